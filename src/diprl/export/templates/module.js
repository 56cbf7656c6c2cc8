// $title, as a JavaScript module without dependencies (ES2022).
// `play(features)` gives the action of the program below; the other functions read, run and print any program.

$language
const program = parseProgram($text);
const play = player(program);

export { ProgramError, ProgramSyntaxError, decider, formatBody, formatC, formatJson, formatProgram, parseProgram, play, player, program };
