/* Runs every test vector and counts wrong actions and statuses; the exit code is zero where there are none. */
#include <stdio.h>

#include "vectors.h"

$functions
int main(void)
{
    int wrong = 0;

    (void)puts(${name}_signature());
$calls    (void)puts((wrong == 0) ? "all vectors pass" : "SOME VECTORS FAIL");
    return (wrong == 0) ? 0 : 1;
}
