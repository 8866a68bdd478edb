#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* const options_help =
    "Usage: mpiexec -n RANKS atmos [OPTION ...]\n"
    "\n"
    "A toy atmosphere on a 3-D grid that saves its four fields after each iteration through Forebay, and goes on from "
    "its\n"
    "newest snapshot when it is started again. Whether agents are processes, threads or dedicated ranks, and what a "
    "save\n"
    "does when storage is slower than the iterations, is the configuration's alone.\n"
    "\n"
    "  --config FILE          Forebay's configuration; without it the defaults\n"
    "  --run DIR              the run's directory at the target (run in the configuration)\n"
    "  --staging DIR          where node files are staged (staging in the configuration)\n"
    "  --iterations N         the last step (12)\n"
    "  --substeps N           steps of the stencil in an iteration (1); 0 exchanges halos only\n"
    "  --compute SECONDS      sleep in each iteration, as computing that leaves the core free (0)\n"
    "  --mib-per-variable N   MiB of each of the four fields on each rank (16)\n"
    "  --grid NZ,NY,NX        cells of the whole grid instead, for any number of ranks\n"
    "  --record FILE          a line for each rank and iteration: rank,step,seconds,blocked_seconds,kept\n"
    "  --no-output            saves nothing\n"
    "  --help                 this text\n"
    "\n"
    "Example: mpiexec -n 4 atmos --run /scratch/me/run7 --config forebay.toml --iterations 100\n";

static int wrong(char* why, const char* text, const char* word) {
    snprintf(why, 256, "%s%s", text, word);
    return 0;
}

static int whole(const char* word, long least, long most, long* value) {
    char* end;
    errno = 0;
    *value = strtol(word, &end, 10);
    return errno == 0 && end != word && *end == 0 && *value >= least && *value <= most;
}

static int three(const char* word, int* grid) {
    char rest;
    if (sscanf(word, "%d,%d,%d%c", &grid[0], &grid[1], &grid[2], &rest) != 3) return 0;
    for (int axis = 0; axis < 3; ++axis)
        if (grid[axis] < 1 || grid[axis] > 1 << 20) return 0;
    return 1;
}

static int seconds(const char* word, double* value) {
    char* end;
    *value = strtod(word, &end);
    return end != word && *end == 0 && *value >= 0 && *value <= 3600;
}

static int take(int letter, const char* word, struct options* options, char* why) {
    long number = 0;
    switch (letter) {
        case 'c': options->config = word; return 1;
        case 'r': options->run = word; return 1;
        case 's': options->staging = word; return 1;
        case 'o': options->record = word; return 1;
        case 'n': options->no_output = 1; return 1;
        case 'i':
            if (!whole(word, 1, 1000000000, &options->iterations))
                return wrong(why, "--iterations takes a number from 1 on, not ", word);
            return 1;
        case 'u':
            if (!whole(word, 0, 1000000, &number)) return wrong(why, "--substeps takes a number from 0 on, not ", word);
            options->substeps = (int)number;
            return 1;
        case 'm':
            if (!whole(word, 1, 4096, &number))
                return wrong(why, "--mib-per-variable takes a number from 1 to 4096, not ", word);
            options->variable_mib = (int)number;
            return 1;
        case 't':
            if (!seconds(word, &options->compute))
                return wrong(why, "--compute takes seconds from 0 to 3600, not ", word);
            return 1;
        case 'g':
            if (!three(word, options->grid)) return wrong(why, "--grid takes three sizes as in 64,256,256, not ", word);
            return 1;
        default: return wrong(why, "there is an option that is not known, or one without its value", "");
    }
}

enum asked options_read(int count, char** words, struct options* options, char* why) {
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},   {"run", required_argument, NULL, 'r'},
        {"staging", required_argument, NULL, 's'},  {"iterations", required_argument, NULL, 'i'},
        {"substeps", required_argument, NULL, 'u'}, {"compute", required_argument, NULL, 't'},
        {"grid", required_argument, NULL, 'g'},     {"mib-per-variable", required_argument, NULL, 'm'},
        {"record", required_argument, NULL, 'o'},   {"no-output", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    const struct options start = {.iterations = 12, .substeps = 1, .variable_mib = 16};
    *options = start;
    opterr = 0; /* getopt would print on every rank; main() prints on one */
    for (int letter; (letter = getopt_long(count, words, "", known, NULL)) != -1;) {
        if (letter == 'h') return ASKED_HELP;
        if (!take(letter, optarg, options, why)) return ASKED_WRONG;
    }
    if (optind < count) return wrong(why, "no argument belongs here: ", words[optind]) ? ASKED_RUN : ASKED_WRONG;
    return ASKED_RUN;
}
