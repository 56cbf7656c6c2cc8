// $title, as a JavaScript module without dependencies (ES2022).
// `play(features)` gives the action of the program below; the other functions read, run and print any program.

$language
const program = parseProgram($text);
const play = player(program);
/** The SHA-256 of the program's JSON form. */
const signature = "$signature";

export { ProgramError, ProgramSyntaxError, decider, formatBody, formatC, formatJson, formatProgram, parseProgram, play, player, program, signature };
