// Data that only this snippet needs lives beside it.
[
  { name: 'database', bytes: 52 * 1024 * 1024 * 1024, backupEverySeconds: 6 * 3600 },
  { name: 'uploads', bytes: 1.5 * 1024 * 1024 * 1024, backupEverySeconds: 5400 },
  { name: 'cache', bytes: 300 * 1024 * 1024, backupEverySeconds: 0 },
]
