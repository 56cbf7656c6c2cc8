static $real ${name}_clip$suffix($real value, $real low, $real high)
{
    return value < low ? low : value > high ? high : value;
}
