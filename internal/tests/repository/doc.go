// Package repository has the tests of the source as a whole: the order of the packages, the public interface, and documents whose
// numbers, fields and commands are made by tests. They run at the root of the source.
package repository
