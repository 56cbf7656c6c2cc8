$comments

#ifndef ${NAME}_H
#define ${NAME}_H

$sizes

/* What a status function returns: zero, or these flags added up. A condition that involves NaN */
/* is false, so that the program still acts as defined; whether to obey it is up to the caller. */
enum { ${NAME}_OK = 0, ${NAME}_NOT_FINITE = 1, ${NAME}_OUT_OF_BOUNDS = 2 };

$functions

#endif
