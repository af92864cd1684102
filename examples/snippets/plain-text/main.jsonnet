// A result that is a string can be asked for as it is:
//
//   curl -H 'Accept: text/plain' http://127.0.0.1:8080/jsonnet/plain-text
//
// Without the header it is a JSON string, in quotes and on one line.
local tasks = [
  { at: '5 4 * * *', command: 'backup --full', why: 'the whole database, when nobody is awake' },
  { at: '*/10 * * * *', command: 'backup --journal', why: 'at most ten minutes are lost' },
];

function(user='backup') |||
  # Written by a snippet; edit that.
  %s
||| % std.join('\n', [
  '# %(why)s\n%(at)s %(user)s %(command)s' % (task { user: user })
  for task in tasks
])
