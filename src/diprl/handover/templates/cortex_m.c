/* The vector table of a bare Cortex-M: where the stack begins, and where the program does. */
extern unsigned int stack_top;
extern void _start(void);

static void halt(void)
{
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void (*const vector_table[16])(void) = {
    (void (*)(void))&stack_top, _start, halt, halt, halt, halt, halt,
};
