
static int run$suffix(void)
{
    int wrong = 0;
    int row;

    for (row = 0; row < VECTORS$SUFFIX; row++) {
        $kind action[$width] = {0};
        const unsigned int flags = ${name}_control$suffix(features$suffix[row], action);
        int different = (flags != status$suffix[row]) ? 1 : 0;
        int entry;

        for (entry = 0; entry < $width; entry++) {
            if (action[entry] != expected$suffix[row][entry]) {
                different = 1;
            }
        }
        if (different != 0) {
            (void)printf("$real: vector %d is wrong\n", row);
            wrong++;
        }
    }
    (void)printf("$real: %d vectors, %d wrong\n", VECTORS$SUFFIX, wrong);
    return wrong;
}
