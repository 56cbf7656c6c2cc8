/* Reads observations from standard input; prints an action and the status of its input. */
#include <stdio.h>

#include "$name.h"

int main(void)
{
    double input[$inputs];
    int read = 0;

    while (scanf("%lf", &input[read]) == 1) {
        $kind action[$outputs];
        unsigned int status;
        int entry;

        read++;
        if (read < $inputs) {
            continue;
        }
        read = 0;
        status = ${name}_control($given, action);
        for (entry = 0; entry < $outputs; entry++) {
            printf("$format ", action[entry]);
        }
        printf("status %u\n", status);
    }
    return 0;
}
