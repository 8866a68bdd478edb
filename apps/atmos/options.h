/* What the command line says. */

#ifndef ATMOS_OPTIONS_H
#define ATMOS_OPTIONS_H

struct options {
    const char* config;  /* TOML; NULL: the defaults */
    const char* run;     /* NULL: that of the configuration */
    const char* staging; /* NULL: that of the configuration */
    const char* record;  /* a CSV file of every rank's times; NULL: none */
    long iterations;     /* the last step */
    int substeps;        /* of the stencil, in an iteration */
    double compute;      /* seconds asleep, in an iteration */
    int variable_mib;
    int grid[3]; /* nz, ny, nx; all 0: by variable_mib */
    int no_output;
};

enum asked { ASKED_RUN, ASKED_HELP, ASKED_WRONG };

/* Fills `options`. ASKED_WRONG: `why`, of 256 bytes, says what is wrong. */
enum asked options_read(int count, char** words, struct options* options, char* why);

extern const char* const options_help;

#endif
