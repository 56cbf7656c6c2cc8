/* The program in whole numbers: features times powers of two, rounded to nearest. */
$comments

#ifndef ${NAME}_FIXED_H
#define ${NAME}_FIXED_H

#include <stdint.h>

#include "$name.h"

$functions

#endif
