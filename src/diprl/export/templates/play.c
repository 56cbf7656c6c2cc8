$signature
{
    $real primitive_actions[${NAME}_PRIMITIVES * ${NAME}_ACTUATORS];

$calls    ${name}_blend$suffix(features, primitive_actions, action);
}
