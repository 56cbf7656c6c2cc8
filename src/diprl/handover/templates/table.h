
#define VECTORS$SUFFIX $rows
static const $real features$suffix[][$count] = {
$features
};
static const $kind expected$suffix[][$width] = {
$actions
};
static const unsigned int status$suffix[] = {$status};
