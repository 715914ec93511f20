// Package table reads tables of features and labels: delimited text, JSON lines, Parquet, packed files and
// LIBSVM text, uncompressed or compressed with gzip or zstd, from a file, standard input or any other reader. It detects options that
// are not set, by the rules below. It repairs nothing: an error has the file, the line, the column, what was
// found, what was expected, and what to do.
//
// # Files
//
//  1. The first bytes of a file show gzip and zstd compression, whatever the name, for labels files as well.
//     Truncated or damaged data are an error. Formats that are often mistaken for tables (zip and
//     spreadsheets, bzip2, xz, UTF-16 text and others) are refused by name.
//  2. The first 256 KiB decide the format. LIBSVM is text in which more than half of the first 1,000 lines are a label without a colon
//     (and without a comma, unless it is a list of whole numbers) and pairs index:value, with a pair in at least one line. JSON lines begin with an object. Everything else is delimited text, and so is
//     every text if the delimiter is set.
//  3. The digest is the SHA-256 of the uncompressed bytes, including a byte order mark. That of several files is
//     the SHA-256 of their digests in hexadecimal, each followed by LF.
//  4. Several files make one table. The others are read for the schema of the first, see "Reading for a model",
//     but their new categories are categories. A file with nothing but a header has no rows.
//  5. A folder below a directory that is read is a partition if its name is KEY=VALUE: KEY is a column of its Parquet files.
//     Their digests are the SHA-256 of their own, a line end, and a line "KEY"="VALUE" for each key.
//  6. Options.FileColumn names a column with the name of the file. It may be an ID, Group, Segment or Time, and
//     never a feature.
//
// # Text
//
//  1. Text is UTF-8, with or without a byte order mark. NUL bytes and bytes that are not UTF-8 are errors.
//  2. A line ends with LF, CRLF or a lone CR, in any mixture. The last line may lack its end. The first line
//     is line 1. A line, and a record with line ends inside quotes, has at most 32 MiB.
//  3. Empty lines (nothing, or only blanks and tabs) before the first and after the last row are ignored.
//     Elsewhere they are errors.
//
// # Delimited text
//
//  1. A record is a line of fields, separated by one delimiter. Without Options.Delimiter it is the first one
//     of tab, semicolon, comma and pipe for which most of the first 100 records have as many fields as the
//     first, at least two; blanks if none of the four fits more than half of the records. A file without any
//     of them has one column. A line of tabs is a row of a tab-separated file.
//  2. A first line sep=; names the delimiter, as Excel writes it. Lines that begin with '#' before the first row are
//     comments, unless the last of them has as many fields as the line after it: then it is the header.
//  3. With blanks as delimiter, runs of blanks and tabs separate fields, and those at the ends of a line are
//     ignored.
//  4. A field whose first character is a double quote is quoted: it ends with the next single double quote,
//     two double quotes mean one, and delimiters and line ends inside belong to it (CRLF as LF).
//     Only blanks may surround the quotes. A double quote inside another field, and single quotes anywhere,
//     are part of the value.
//  5. Blanks and tabs around a field without quotes are not part of its value. See "Columns" for those inside quotes.
//  6. Every record has as many fields as the first, at most 25,000.
//  7. If Options.Header is not set, the first record names the columns if an option refers to a column by one
//     of its fields, or if none of its fields is a number or a spelling of a missing value and either some
//     column is numeric in the rows below, or none is, there are at least two rows, and the names are not
//     empty, all different and not repeated in their columns. A first row whose label is text is an error if
//     all other labels of the head are numbers: it may be a header. So is one of the numbers 0, 1, 2, ... or 1, 2, 3, ... (see
//     numbersColumns).
//  8. An empty name is replaced by the column's number. Two columns of the same name are an error. Without a
//     header the names are the numbers.
//
// # JSON lines
//
//  1. Each line is an object (RFC 8259) in UTF-8, nested at most 64 deep. Blank lines are ignored.
//  2. A column is a key. The keys of nested objects are joined by dots ("flow.bytes"). A list is a text, as it is
//     written. A key that occurs twice is an error.
//  3. The columns are the keys of the head in the order of their first appearance. Other keys are ignored with a
//     warning. A key that a row does not have, null and an empty text are missing values.
//  4. A column is numeric if more than half of its values in the head are JSON numbers. Texts, true and false are
//     categories. In a numeric column a text is read like a field of delimited text. A warning names a column of texts that are
//     numbers.
//  5. A model of delimited text with a header reads JSON lines, and the other way round. Columns of the model that
//     no row of the head has are missing in those rows, but one of them must be there.
//
// # Columns
//
//  1. A column is given by its name, by its 1-based number in the file before any column is dropped, or as
//     first or last. A name wins. Lists (Drop, ID, Categorical, Numeric) also accept elements like "1-7,43".
//  2. All columns are features except the label and the columns of Weight, Group, Segment, Time, ID and Drop.
//     The columns of Kept are also kept as text, in addition to their role.
//  3. The first 10,000 rows (fewer if they take more than 64 MiB) decide the kinds. A column is numeric if
//     more than half of its values in these rows are numbers, not counting missing ones, or if there is none.
//     Otherwise it is categorical. Texts of a Parquet file that are numbers count as numbers, with a warning. The options Categorical and Numeric take precedence. Text in a numeric
//     column is an error anywhere in the file.
//  4. A number is [+-] digits [. digits] [e [+-] digits] with a digit before the exponent. Its value is the
//     nearest float64, as strconv.ParseFloat returns it. Hexadecimal numbers and underscores are text. The
//     text NaN, in any case, is a missing value of a numeric column. Infinity and numbers beyond the range of
//     float64 are errors there. If more than half of those values are numbers with one of Units, the
//     column is numeric too, and its numbers may have that unit.
//  5. A field is missing if it is empty or equal to one of the spellings in Missing: NaN in a numeric, -1 in
//     a categorical column. Package feature decides how missing values are encoded.
//  6. Blanks and tabs at the ends of a value are not part of it, in any format: of a number, a category, a label, a
//     group, a segment or a spelling of a missing value. So ", " separates values like ",", and a record from a
//     program or a database has the category of a file. Only ids, columns that are kept, and raw fields keep the
//     blanks inside quotes.
//  7. The values of a categorical column get codes in order of first appearance. A number that is not a text (of JSON, Parquet or
//     a packed file) is the category of its shortest decimal text: 3 and 3.0 are "3". If a model knows "3.0" and not "3", they are
//     "3.0". The text "3.0" stays "3.0". Groups and segments have the same text. Ids have the text of the file.
//  8. A weight is a finite number of at least 0. Rows of weight 0 are left out and counted in a warning.
//
// # Labels
//
//  1. Labels compare as numbers if both are numbers ("+1", "1" and "1.0" are equal), otherwise as text.
//  2. With Positive, a row is positive if its label is one of the values; with values of the form "!x", if it
//     is none of them. In a training file each of the values must occur.
//  3. Without Positive, the labels must be 1 and 0, 1 and -1, or true and false (in any case). 1 and true are
//     positive.
//  4. A training file has rows of both classes. A label is never missing unless Options.Unlabelled is set.
//  5. A labels file has one label per line and no header. It has as many
//     labels as the other file has rows.
//
// # LIBSVM
//
//  1. A line is a label and entries index:value, separated by blanks and tabs. Indices are 1-based and
//     ascend. They are at most 100,000,000. A row may have no entries. Values are finite numbers; values of 0
//     are not stored.
//  2. The number of features is the largest index. If Width is set, it is the number, and a larger index is
//     an error.
//  3. A comment begins with '#'. A line with nothing but a comment is ignored.
//  4. The label may be any text without a colon. It may be absent with a labels file, which replaces it, or
//     with Options.Unlabelled.
//
// # Reading for a model
//
// With Options.Schema, the kinds, dictionaries, label, positive values and spellings of missing values are
// those of the training file. The table has the features of the schema in its order.
//
//  1. Columns are matched by name if both files have a header, otherwise by number. If no label is needed and
//     the file has exactly one column less than the training file, the label column is the one that is
//     absent.
//  2. Features without a weight may be absent: their values are missing. Other missing features are an error, which
//     also lists columns that are extra or in another order. Otherwise
//     extra columns are ignored and columns in another order are matched by name, each with a warning.
//  3. Values that are not in a dictionary get codes after it: the first 65,536 of a column one code each, all
//     others the next code together.
//  4. Labels are checked against those of the training file, see knownlabels.go.
//  5. LIBSVM entries above the training width are ignored and counted in a warning.
//  6. ID, Group and Time are those of the schema if the file has these columns and the options set none. Weight,
//     Segment and Kept come from the options alone.
//
// # How rows become a table
//
// A format provides names of columns and rows. The assembler turns them into a Table: roles, kinds, labels,
// weights, categories and schemas are the same for every format with columns. To add a format, write a file
// with a rowSource (see jsonrows.go) and add a line to formats in format.go.
//
// # How text is read
//
// The stream is cut after line feeds into chunks of 256 KiB, larger ones if lines are longer. A chunk without
// anything unusual is scanned: its fields are converted in place, column by column. Any other chunk, with a
// quote, an empty line, a CR without LF, a comment or an invalid value, is left to the tokenizer, which
// continues to the next end of a chunk that is also the end of a record. So only one place writes errors and
// understands unusual forms. The fuzz targets FuzzFastDelimited and FuzzFastLIBSVM check that both ways
// return the same bits.
//
// The tokenizer reads the head of delimited text first, until the header and the kinds of the columns are
// known. Then the file is read from its start. A scan parses runs of usual numbers with kernel.Decimals,
// other short numbers with readNumber, and the remaining numbers with strconv.
//
// Read has one goroutine that decompresses, hashes and cuts, and GOMAXPROCS goroutines that scan. Rows are
// appended in the order of the file, and dictionaries grow in that order, so that results do not depend on
// the number of goroutines. Next scans one chunk after the other in the caller's goroutine.
//
// # Memory
//
// Memory depends on the content of a file. Empty lines take constant memory. Reader holds at most 64 MiB of
// the text of the head, then one chunk and its rows. Its memory does not grow with the rows of a file. Read
// holds the table and at most 2 GOMAXPROCS + 2 chunks with about 16 MiB of text in all. The memory that a
// scan reserves for rows depends on the bytes of a chunk, not on its line ends. A LIBSVM table takes no
// memory for indices that do not occur. A training file has at most 262,144 distinct values in its
// categorical columns, with at most 16 MiB of text. The names of the columns also have at most 16 MiB.
//
// From the size of a file (for gzip in its trailer, for zstd in its header) and the first rows, Read
// estimates the number of rows and reserves memory for them once. If the size is unknown, the columns grow by
// quarters. After the first megabyte of text, and whenever the text has doubled, the estimate is compared
// with the free memory (package memory), and a table that will not fit is refused. With Options.Packed,
// columns are stored in segments of 1,024 rows, each in as few bytes as reproduce every bit, Release releases
// them from the first row on, and consecutive line numbers are not stored.
package table
