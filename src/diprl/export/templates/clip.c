static $real ${name}_clip$suffix($real value, $real low, $real high)
{
    $real limited = value;

    if (value < low) {
        limited = low;
    } else if (value > high) {
        limited = high;
    } else {
        /* It lies between, or it is not a number and stays so. */
    }
    return limited;
}
