static void ${name}_dense$suffix(const $real *weights, const $real *bias, int inputs,
    int outputs, const $real *input, $real *output)
{
    int row;
    int column;

    for (row = 0; row < outputs; row++) {
        $real total = weights[row * inputs] * input[0];
        for (column = 1; column < inputs; column++) {
            total += weights[(row * inputs) + column] * input[column];
        }
        output[row] = total + bias[row];
    }
}
