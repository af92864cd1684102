module github.com/stagewright/stagewright

go 1.26.0
