/* Each array comes with the bytes from one observation to the next. */
void each_index(long count, int (*act)(const char *), const char *features, long width, char *found, long step)
{
    long i;
    for (i = 0; i < count; i++) { *(int *)(void *)(found + i * step) = act(features + i * width); }
}

void each_vector(long count, void (*act)(const char *, char *), const char *features, long width,
    char *found, long step)
{
    long i;
    for (i = 0; i < count; i++) { act(features + i * width, found + i * step); }
}

void each_blend(long count, void (*act)(const char *, const char *, char *), const char *features, long width,
    const char *more, long more_width, char *found, long step)
{
    long i;
    for (i = 0; i < count; i++) { act(features + i * width, more + i * more_width, found + i * step); }
}
