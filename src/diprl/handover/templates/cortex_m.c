/* The vector table of a bare Cortex-M: where the stack begins, and where the program does. */
extern void stack_top(void);
extern void _start(void);

static void halt(void)
{
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void (*const vector_table[16])(void) = {
    stack_top, _start, halt, halt, halt, halt, halt,
};
