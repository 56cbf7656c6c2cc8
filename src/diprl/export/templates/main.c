/* Reads observations from standard input; prints an action and the status of its input. */
#include <stdio.h>

#include "$name.h"

int main(void)
{
    double input[$size + 1];
    int read = 0;
$variables
    while (scanf("%lf", &input[read]) == 1) {
        read++;
        if (read < $size) {
            continue;
        }
        read = 0;
        $act
        printf(" status %d\n", ${name}_status(input));
    }
    return 0;
}
