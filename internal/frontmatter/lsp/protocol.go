package lsp

// The parts of the protocol that the server uses, named as the protocol names them.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type initializeParams struct {
	RootURI          *string `json:"rootUri"`
	WorkspaceFolders []struct {
		URI string `json:"uri"`
	} `json:"workspaceFolders"`
	Capabilities struct {
		General struct {
			PositionEncodings []string `json:"positionEncodings"`
		} `json:"general"`
	} `json:"capabilities"`
}

type documentID struct {
	URI string `json:"uri"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type openParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
}

type changeParams struct {
	TextDocument struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
	} `json:"textDocument"`
	ContentChanges []struct {
		Range *textRange `json:"range"`
		Text  string     `json:"text"`
	} `json:"contentChanges"`
}

type watchedParams struct {
	Changes []documentID `json:"changes"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type codeActionParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        textRange  `json:"range"`
	Context      struct {
		Only []string `json:"only"`
	} `json:"context"`
}

type diagnostic struct {
	Range    textRange `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code"`
	Source   string    `json:"source"`
	Message  string    `json:"message"`
	Related  []related `json:"relatedInformation,omitempty"`
}

type related struct {
	Location location `json:"location"`
	Message  string   `json:"message"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	SortText      string    `json:"sortText,omitempty"`
	TextEdit      *textEdit `json:"textEdit,omitempty"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hoverResult struct {
	Contents markup    `json:"contents"`
	Range    textRange `json:"range"`
}

type codeAction struct {
	Title       string         `json:"title"`
	Kind        string         `json:"kind"`
	IsPreferred bool           `json:"isPreferred,omitempty"`
	Diagnostics []diagnostic   `json:"diagnostics,omitempty"`
	Edit        *workspaceEdit `json:"edit"`
}

type documentSymbol struct {
	Name           string    `json:"name"`
	Detail         string    `json:"detail,omitempty"`
	Kind           int       `json:"kind"`
	Range          textRange `json:"range"`
	SelectionRange textRange `json:"selectionRange"`
}

type prepareResult struct {
	Range       textRange `json:"range"`
	Placeholder string    `json:"placeholder"`
}

type logParams struct {
	Type    int    `json:"type"`
	Message string `json:"message"`
}

// Numbers of the protocol's enumerations.
const (
	severityError   = 1
	severityWarning = 2

	kindField  = 5
	kindValue  = 12
	kindClass  = 7
	kindMethod = 6

	messageWarning = 2

	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeRequestFailed  = -32803
)

type object = map[string]any

// capabilities says what the server does.
func capabilities(encoding string) object {
	return object{
		"positionEncoding": encoding,
		"textDocumentSync": object{"openClose": true, "change": 2, "save": object{"includeText": false}},
		"completionProvider": object{
			"triggerCharacters": []string{" ", ":", "<", ","},
		},
		"hoverProvider":              true,
		"documentFormattingProvider": true,
		"documentSymbolProvider":     true,
		"definitionProvider":         true,
		"renameProvider":             object{"prepareProvider": true},
		"codeActionProvider":         object{"codeActionKinds": []string{quickFix, fixAll}},
		"workspace":                  object{"workspaceFolders": object{"supported": true}},
	}
}
