// Package ui serves a page on which a person looks at one ranking: what a budget finds, the rows at the top with
// their reasons, the columns, and whether these rows differ from those that calibrated the threshold.
//
// The page is for one person on the same machine. The server listens on a loopback address and a random port. The
// address that the command prints ends in a token after #, which a browser does not send. The page exchanges it once
// for a secret that it keeps for its tab, and sends that with every question. Nothing of the data can be read without
// the secret. The server refuses other Host headers, so that a foreign name that resolves to the loopback address
// reaches nothing, and other origins. No path from a request reaches the file system.
//
// Every number and sentence of the page is made here. The scripts draw, ask, and fill in the answers.
package ui
