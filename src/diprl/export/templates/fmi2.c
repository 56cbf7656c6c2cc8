/* The functions of FMI 2.0 for co-simulation around a controller; types are those of the standard's default platform. */
#include <stddef.h>
#include <string.h>

#include "$name.h"

#if defined(_WIN32)
#define FMI_FUNCTION __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI_FUNCTION __attribute__((visibility("default")))
#else
#define FMI_FUNCTION
#endif

#define INPUTS ${inputs}U
#define OUTPUTS ${outputs}U
#define STATUS (INPUTS + OUTPUTS)
#define SIGNATURE (STATUS + 1U)
#define FMI_OK 0
#define FMI_ERROR 3
#define CO_SIMULATION 1

typedef struct {
    void (*logger)(void *environment, const char *instance, int status, const char *category, const char *text, ...);
    void *(*allocate)(size_t count, size_t size);
    void (*release)(void *object);
    void (*step_finished)(void *environment, int status);
    void *environment;
} callbacks_t;

typedef struct {
    double input[INPUTS];
    $kind action[OUTPUTS];
    unsigned int status;
    void (*release)(void *object);
} component_t;

static void decide(component_t *self)
{
    self->status = ${name}_control($given, self->action);
}

FMI_FUNCTION const char *fmi2GetTypesPlatform(void);
FMI_FUNCTION const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

FMI_FUNCTION const char *fmi2GetVersion(void);
FMI_FUNCTION const char *fmi2GetVersion(void)
{
    return "2.0";
}

FMI_FUNCTION void *fmi2Instantiate(const char *instance, int type, const char *guid, const char *resources,
    const callbacks_t *callbacks, int visible, int logging);
FMI_FUNCTION void *fmi2Instantiate(const char *instance, int type, const char *guid, const char *resources,
    const callbacks_t *callbacks, int visible, int logging)
{
    component_t *self = NULL;

    (void)instance;
    (void)resources;
    (void)visible;
    (void)logging;
    if ((type == CO_SIMULATION) && (strcmp(guid, "$guid") == 0)) {
        self = (component_t *)callbacks->allocate(1U, sizeof(component_t));
    }
    if (self != NULL) {
        (void)memset(self, 0, sizeof(component_t));
        self->release = callbacks->release;
        decide(self);
    }
    return self;
}

FMI_FUNCTION void fmi2FreeInstance(void *component);
FMI_FUNCTION void fmi2FreeInstance(void *component)
{
    if (component != NULL) {
        component_t *self = (component_t *)component;
        self->release(self);
    }
}

FMI_FUNCTION int fmi2Reset(void *component);
FMI_FUNCTION int fmi2Reset(void *component)
{
    component_t *self = (component_t *)component;

    (void)memset(self->input, 0, sizeof(self->input));
    decide(self);
    return FMI_OK;
}

FMI_FUNCTION int fmi2SetupExperiment(void *component, int has_tolerance, double tolerance, double start, int has_stop,
    double stop);
FMI_FUNCTION int fmi2SetupExperiment(void *component, int has_tolerance, double tolerance, double start, int has_stop,
    double stop)
{
    (void)component;
    (void)has_tolerance;
    (void)tolerance;
    (void)start;
    (void)has_stop;
    (void)stop;
    return FMI_OK;
}

FMI_FUNCTION int fmi2EnterInitializationMode(void *component);
FMI_FUNCTION int fmi2EnterInitializationMode(void *component)
{
    (void)component;
    return FMI_OK;
}

FMI_FUNCTION int fmi2ExitInitializationMode(void *component);
FMI_FUNCTION int fmi2ExitInitializationMode(void *component)
{
    decide((component_t *)component);
    return FMI_OK;
}

FMI_FUNCTION int fmi2Terminate(void *component);
FMI_FUNCTION int fmi2Terminate(void *component)
{
    (void)component;
    return FMI_OK;
}

FMI_FUNCTION int fmi2DoStep(void *component, double time, double step, int no_way_back);
FMI_FUNCTION int fmi2DoStep(void *component, double time, double step, int no_way_back)
{
    (void)time;
    (void)step;
    (void)no_way_back;
    decide((component_t *)component);
    return FMI_OK;
}

FMI_FUNCTION int fmi2SetReal(void *component, const unsigned int *references, size_t count, const double *values);
FMI_FUNCTION int fmi2SetReal(void *component, const unsigned int *references, size_t count, const double *values)
{
    component_t *self = (component_t *)component;
    int found = FMI_OK;
    size_t i;

    for (i = 0U; i < count; i++) {
        if (references[i] < INPUTS) {
            self->input[references[i]] = values[i];
        } else {
            found = FMI_ERROR;
        }
    }
    return found;
}

FMI_FUNCTION int fmi2GetReal(void *component, const unsigned int *references, size_t count, double *values);
FMI_FUNCTION int fmi2GetReal(void *component, const unsigned int *references, size_t count, double *values)
{
    const component_t *self = (const component_t *)component;
    int found = FMI_OK;
    size_t i;

    for (i = 0U; i < count; i++) {
        if (references[i] < INPUTS) {
            values[i] = self->input[references[i]];
        } else if (references[i] < STATUS) {
            values[i] = (double)self->action[references[i] - INPUTS];
        } else {
            found = FMI_ERROR;
        }
    }
    return found;
}

FMI_FUNCTION int fmi2GetInteger(void *component, const unsigned int *references, size_t count, int *values);
FMI_FUNCTION int fmi2GetInteger(void *component, const unsigned int *references, size_t count, int *values)
{
    const component_t *self = (const component_t *)component;
    int found = FMI_OK;
    size_t i;

    for (i = 0U; i < count; i++) {
        if (references[i] == STATUS) {
            values[i] = (int)self->status;
        } else if ((references[i] >= INPUTS) && (references[i] < STATUS)) {
            values[i] = (int)self->action[references[i] - INPUTS];
        } else {
            found = FMI_ERROR;
        }
    }
    return found;
}

FMI_FUNCTION int fmi2GetString(void *component, const unsigned int *references, size_t count, const char **values);
FMI_FUNCTION int fmi2GetString(void *component, const unsigned int *references, size_t count, const char **values)
{
    int found = FMI_OK;
    size_t i;

    (void)component;
    for (i = 0U; i < count; i++) {
        if (references[i] == SIGNATURE) {
            values[i] = ${name}_signature();
        } else {
            found = FMI_ERROR;
        }
    }
    return found;
}

/* The description says that all of these are not offered, but for the first. */
FMI_FUNCTION int fmi2SetDebugLogging(void *component, int on, size_t count, const char *const *categories);
FMI_FUNCTION int fmi2SetDebugLogging(void *component, int on, size_t count, const char *const *categories)
{
    (void)component;
    (void)on;
    (void)count;
    (void)categories;
    return FMI_OK;
}

/* The rest of the interface: this unit has no state to save, no derivatives and no steps that take time. */
$not_offered