FMI_FUNCTION int $function;
FMI_FUNCTION int $function
{
${unused}    return FMI_ERROR;
}
