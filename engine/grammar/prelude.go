package grammar

// prelude are the rules that schemas are made of. White space is bounded: a
// model could write it for ever. So are the digits of a number, as what is too
// large for a float64 is valid JSON and yet an error to most who read it. Each
// escape is whole characters, as a half of a surrogate pair is none.
//
// The formats are those that OpenAI knows, and uri. Some allow less than their
// standards do: an IPv6 address is written out, a URI's scheme needs an
// authority or a path.
const prelude = `
json-object ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (pair ("," ws pair)* ws)? "}"
pair ::= string ":" " "? value
array ::= "[" ws (value ("," ws value)* ws)? "]"
string ::= "\"" char* "\""
char ::= [^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" unit)
unit ::= [0-9a-cA-Ce-fE-F] hex{3} | [dD] [0-7] hex{2} | [dD] [89abAB] hex{2} "\\u" [dD] [c-fC-F] hex{2}
hex ::= [0-9a-fA-F]
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
boolean ::= "true" | "false"
null ::= "null"
ws ::= (" " | "\n" [ \t]{0,32})?

date ::= [0-9]{4} "-" (("0" [13578] | "1" [02]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]) | ("0" [469] | "11") "-" ("0" [1-9] | [12] [0-9] | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8])) | leap "-02-29"
leap ::= [0-9]{2} ("0" [48] | [2468] [048] | [13579] [26]) | ("0" [048] | [2468] [048] | [13579] [26]) "00"
time ::= clock ":" [0-5] [0-9] ("." [0-9]{1,9})? ("Z" | [-+] clock)
clock ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]
date-time ::= date "T" time
duration ::= "P" (n "W" | days ("T" hours)? | "T" hours)
days ::= n "Y" (n "M" (n "D")?)? | n "M" (n "D")? | n "D"
hours ::= n "H" (n "M" (n "S")?)? | n "M" (n "S")? | n "S"
n ::= [0-9]{1,9}
uuid ::= hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}
email ::= atom{1,20} ("." atom{1,20}){0,2} "@" hostname
atom ::= [A-Za-z0-9!#$%&'*+/=?^_{|}~-]
hostname ::= label ("." label){1,3}
label ::= [A-Za-z0-9] ([A-Za-z0-9] | "-" [A-Za-z0-9]){0,30}
ipv4 ::= octet "." octet "." octet "." octet
octet ::= "25" [0-5] | "2" [0-4] [0-9] | "1" [0-9]{2} | [1-9]? [0-9]
ipv6 ::= hex{1,4} (":" hex{1,4}){7}
uri ::= [A-Za-z] [A-Za-z0-9+.-]{0,20} ":" ("//" hostname (":" [1-9] [0-9]{0,3})?)? ("/" part*)* ("?" (part | [/?])*)? ("#" (part | [/?])*)?
part ::= [A-Za-z0-9._~!$&'()*+,;=:@-] | "%" hex{2}
`

// formats are the formats of strings that can be kept.
var formats = map[string]bool{
	"date": true, "time": true, "date-time": true, "duration": true, "uuid": true,
	"email": true, "hostname": true, "ipv4": true, "ipv6": true, "uri": true,
}
