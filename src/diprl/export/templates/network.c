static void ${owner}(const $real *senses, $real *action)
{
    $real first[$widest];
    $real second[$widest];
    int index;

    for (index = 0; index < $inputs; index++) {
        first[index] = (senses[index] - ${owner}_mean[index]) / ${owner}_std[index];
    }
$layers    for (index = 0; index < $outputs; index++) {
        action[index] = ${name}_clip$suffix($result[index], ${owner}_low[index], ${owner}_high[index]);
    }
}
