$status
{
    int index, flags = ${NAME}_OK;

    for (index = 0; index < ${NAME}_FEATURES; index++) {
        if (!isfinite(features[index])) {
            flags |= ${NAME}_NOT_FINITE;
        }
    }
$bounds    return flags;
}

$act
{
$body
}
