$status
{
    unsigned int flags = ${NAME}_OK;
${finite}$tests    return flags;
}

$act
{
$body
}

$control
{
    const unsigned int flags = ${name}_status$suffix(features);

    if ((flags & ${NAME}_FALLBACK_ON) != 0U) {
$fallback
    } else {
        $call;
    }
    return flags;
}
