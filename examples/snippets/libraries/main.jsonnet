// An import is looked for beside the importing file first, then in the directories of --library-path, the rightmost one
// first.
local units = import 'units.libsonnet';  // examples/lib/units.libsonnet
local volumes = import 'volumes.libsonnet';  // beside this file

{
  [volume.name]: {
    size: units.bytes(volume.bytes),
    backup: if volume.backupEverySeconds == 0 then 'never' else 'every ' + units.duration(volume.backupEverySeconds),
  }
  for volume in volumes
}
