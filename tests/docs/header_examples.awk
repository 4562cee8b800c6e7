# The examples in the first comments of the headers, each in a file of its own: awk -v out=FOLDER -f header_examples.awk
# HEADER... They are the indented paragraphs that call a function. FOLDER/all.inc lists them: X(calibrate)
function keep() {
  if (calls) {
    printf "%s", text > (out "/" name ".inc")
    close(out "/" name ".inc")
    print "X(" name ")" > (out "/all.inc")
  }
  text = ""
  calls = 0
}
FNR == 1 {
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.h$/, "", name)
  comment = 1
}
comment && /^ \*   / {
  text = text substr($0, 6) "\n"
  if ($0 ~ /psdm_[a-z_]+\(/) calls = 1
}
comment && !/^ \*   / { keep() }
/\*\// { comment = 0 }
