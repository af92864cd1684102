-- Neovim 0.11 or newer. Put this file into ~/.config/nvim/lsp/ and add vim.lsp.enable("frontmatter") to init.lua.
return {
  cmd = { "frontmatter", "lsp" },
  filetypes = { "sql" },
  root_markers = { "frontmatter.yaml", ".git" },
}
