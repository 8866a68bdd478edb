/* The command line. */

#ifndef ATMOS_OPTIONS_H
#define ATMOS_OPTIONS_H

struct options {
    const char* config;  /* TOML; NULL: the defaults */
    const char* run;     /* NULL: from the configuration */
    const char* staging; /* NULL: from the configuration */
    const char* record;  /* CSV file for every rank's times; NULL: none */
    long iterations;     /* the last step */
    int substeps;        /* stencil steps an iteration */
    double compute;      /* seconds of sleep an iteration */
    int variable_mib;
    int grid[3]; /* nz, ny, nx; all 0: variable_mib decides */
    int no_output;
};

enum asked { ASKED_RUN, ASKED_HELP, ASKED_WRONG };

/* Fills `options`. After ASKED_WRONG, `why` (256 bytes) holds the reason. */
enum asked options_read(int count, char** words, struct options* options, char* why);

extern const char* const options_help;

#endif
