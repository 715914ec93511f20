// Package table reads tables of features and labels: delimited text, LIBSVM text and IDX arrays, plain or packed with
// gzip or zstd, from a file or standard input. It detects what it is not told, in ways that this page states, and
// refuses with file, line, column, what was found, what was expected and what to do, rather than repair.
//
// # Files
//
//  1. gzip and zstd are recognised by their first bytes, whatever the name, for labels files too. Truncated or
//     damaged data are an error. Formats that are often taken for tables (zip and spreadsheets, bzip2, xz, Parquet,
//     UTF-16 text and others) are refused by name.
//  2. The first 256 KiB decide the format. IDX begins with two zero bytes, a known type and a number of dimensions.
//     LIBSVM is text in which more than half of the first 1,000 lines are a label without a colon and pairs
//     index:value, at least one line with a pair. Everything else is delimited text; a delimiter that is told settles
//     it.
//  3. The digest is the SHA-256 of the uncompressed bytes, byte order mark included.
//
// # Text
//
//  1. Text is UTF-8, with or without a byte order mark. NUL bytes and bytes that are not UTF-8 are errors.
//  2. A line ends with LF, CRLF or a lone CR, in any mixture; the last line may lack its end. The first line is
//     line 1. A line, and a record with line ends inside quotes, has at most 64 MiB.
//  3. Empty lines (nothing, or blanks and tabs only) before the first and behind the last row are ignored; elsewhere
//     they are errors.
//
// # Delimited text
//
//  1. A record is a line of fields; fields are separated by one delimiter. Without --delimiter it is the one among
//     tab, semicolon, comma and pipe, in this order, for which most of the first 100 records have as many fields as
//     the first, at least two; blanks if none of the four fits more than half of them. A file without any has one
//     column. A line of tabs is a row of a tab-separated file.
//  2. With blanks as delimiter, fields are separated by runs of blanks and tabs, and those at the ends of a line are
//     ignored.
//  3. A field whose first character is a double quote is quoted: it ends with the next single double quote, a doubled
//     one stands for itself, delimiters and line ends inside belong to it (each line end as LF). Only blanks may
//     stand around the quotes. A double quote further inside a field, and single quotes anywhere, are part of its
//     value.
//  4. Blanks and tabs around a field that is not quoted are not part of its value.
//  5. Every record has as many fields as the first, at most 25,000.
//  6. With --header auto the first record names the columns if a flag calls a column by one of its fields, or if none
//     of its fields is a number or a spelling of a missing value and either some column is numeric in the rows below,
//     or none is, there are at least two rows, and the names are not empty, all different and not repeated in their
//     columns. A first row whose label is text where all others that were read ahead are numbers is an error that
//     asks for --header.
//  7. A name that is empty is the column's number in decimal. Two columns of the same name are an error. Without a
//     header the names are the numbers.
//
// # Columns
//
//  1. A column is told by its name or by its 1-based number in the file, before anything is dropped, or as first or
//     last; a name wins. Lists (Drop, ID, Categorical, Numeric) also take elements like "1-7,43".
//  2. The label, and the columns of Weight, Group, Segment, Time, ID and Drop, are not features; all others are.
//  3. The first 10,000 rows (fewer where they take more than 64 MiB) decide the kinds. A column is numeric when more
//     than half of the values seen there, missing ones aside, are numbers, or none is seen at all; otherwise it is
//     categorical. Categorical and Numeric decide themselves. A stray text in a numeric column is an error anywhere in the
//     file.
//  4. A number is [+-] digits [. digits] [e [+-] digits] with a digit before the exponent, and means the nearest
//     float64, as strconv.ParseFloat reads it; hexadecimal numbers and underscores are text. NaN, infinity and
//     numbers beyond the range of float64 are errors in a numeric column.
//  5. A field is missing when it is empty, or is spelled exactly as one of Missing says: NaN in a numeric, -1 in a
//     categorical column. What becomes of it is decided where features are made, not here.
//  6. A categorical column's values get codes in order of first appearance, exactly as they are written.
//  7. A weight is a finite number of at least 0. Rows of weight 0 are left out and counted in a warning.
//
// # Labels
//
//  1. Labels compare as numbers when both are numbers ("+1", "1" and "1.0" are the same), otherwise as text.
//  2. With Positive, a row is positive when its label is one of the values; with values of the form "!x", when it is
//     none of them. In a training file each of the values must occur.
//  3. Without, the labels must be 1 and 0, 1 and -1, or true and false (in any case); 1 and true are positive.
//  4. A training file has rows of both classes. A label is never missing, unless Options.Unlabelled allows it.
//  5. A labels file has one label a line and no header, or is an IDX array of one dimension. It has as many labels as
//     the other file has rows.
//
// # LIBSVM
//
//  1. A line is a label and entries index:value, separated by blanks and tabs. Indices are 1-based and ascend; they
//     are at most 100,000,000. A row may have no entries. Values are finite numbers; those that are 0 are left out.
//  2. The number of features is the largest index, or Width, and then a larger index is an error.
//  3. What follows a '#' is a comment. A line of nothing but a comment is ignored.
//  4. The label may be any text without a colon. It may be absent with a labels file, which replaces it, or with
//     Options.Unlabelled.
//
// # IDX
//
// Two zero bytes, a type (08 uint8, 09 int8, 0b int16, 0c int32, 0d float32, 0e float64), the number of dimensions,
// the dimensions (32 bits each), the values; all big-endian. The first dimension counts the rows; the product of the
// others, at most 25,000, the columns, which are numbered from 1 and numeric. Labels come from a labels file. Line
// numbers in errors and in Table.Line are numbers of items.
//
// # Reading for a model
//
// With Options.Schema, kinds, dictionaries, label, positive values and spellings of missing values are those of the
// training file; the table has its features in its order.
//
//  1. Columns are matched by name when both files have a header, otherwise by number. When no label is needed, and
//     the file has exactly one column less than the training file, it is the label's that is absent.
//  2. Features that are missing are an error, which also lists columns that are extra or in another order. Without
//     missing ones, extra columns are ignored and columns in another order are matched by name, each with a warning.
//  3. Values unknown to a dictionary get codes beyond it: the first 65,536 of a column one each, all others the one
//     behind.
//  4. LIBSVM entries above the training width are ignored, with a warning that counts them.
//  5. Weight, Group, Segment, Time and ID are those of the options, not of the schema.
//
// # How text is read
//
// A stream is cut behind line feeds into chunks of 256 KiB, more where lines are longer. A chunk in which nothing is
// unusual is scanned: its fields are converted in place, column by column. Any other, with a quote, an empty line, a CR
// without LF, a comment, a value that is an error, is left to the tokenizer, which goes on to the next end of a chunk
// that is also the end of a record. So there is one place where errors are worded and odd forms are understood, and
// both ways give the same to the last bit (FuzzFastDelimited, FuzzFastLIBSVM).
//
// The tokenizer reads the head of delimited text first, until header and kinds of the columns are known; then the file is
// read from its begin. A scan takes runs of usual numbers with kernel.Decimals, readNumber takes those in short forms that
// it leaves, and strconv what is left of those.
//
// Read has one goroutine that unpacks, hashes and cuts, and GOMAXPROCS others that scan; the rows are appended in the
// order of the file, and dictionaries grow in that order, so that nothing depends on their number. Next scans one chunk
// after the other in the caller's goroutine.
//
// # Memory
//
// Memory follows what a file holds. Empty lines are passed in constant memory. Reader holds at most 64 MiB of the text of the
// head, then one chunk and what was read from it; its memory does not grow with the rows of a file. Read holds the table and at
// most 2 GOMAXPROCS + 2 chunks, of about 16 MiB of text in all; what a scan reserves for rows follows the bytes of a chunk, not
// its line ends. A LIBSVM table takes nothing for indices that do not occur. A training file has at most 262,144 different values
// in its categorical columns, which have at most 16 MiB of text, as the names of the columns have.
//
// From the size of a file, that in the trailer of gzip or the header of zstd data, and the first rows Read estimates how many
// rows there are and reserves memory for them once; where no size is known, the columns grow by quarters. After the first
// megabyte of text, and as often as it has doubled, the estimate is compared with the memory that is free (package memory), and
// a table that will not fit is refused. With Options.Packed columns are kept in segments of a thousand rows, each in as few bytes
// as give back every bit, Release gives them up from the first on, and lines are not kept where each row has one of its own.
package table
