$comments

#ifndef ${NAME}_H
#define ${NAME}_H

$sizes

/* A status is zero, or these flags added up. */
#define ${NAME}_OK 0U
$flags

/* With these, `control` takes the fallback action. All other flags are for the caller to judge. */
#ifndef ${NAME}_FALLBACK_ON
#define ${NAME}_FALLBACK_ON (${NAME}_NOT_FINITE | ${NAME}_OUT_OF_BOUNDS)
#endif

/* The SHA-256 of the program's JSON form: compare it with the record after a download. */
const char *${name}_signature(void);

/* `play` is the program alone; a condition that involves NaN is false. `control` checks its input first. */
$functions

#endif
