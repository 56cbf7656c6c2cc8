static $real ${name}_clip$suffix($term value, $term low, $term high)
{
    $term limited = value;

    if (value < low) {
        limited = low;
    } else if (value > high) {
        limited = high;
    } else {
        /* It lies between, or it is not a number and stays so. */
    }
    return ${cast}limited;
}
