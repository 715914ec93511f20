//go:build !unix

package main

func traced() { main() }
