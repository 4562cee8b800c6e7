_psdm_files() { # KIND CURRENT
  local name
  while IFS= read -r name; do
    if [ -d "$name" ]; then COMPREPLY+=("$name/"); continue; fi
    case "$1 $name" in folder\ *) ;; robot\ *.yaml | robot\ *.yml | robot\ *.urdf | file\ *) COMPREPLY+=("$name") ;; esac
  done < <(compgen -f -- "$2")
  compopt -o filenames 2> /dev/null
}

_psdm() {
  local current=${COMP_WORDS[COMP_CWORD]} previous= command=${COMP_WORDS[1]} options words files list i place=0 word head=
  COMPREPLY=()
  [ "$COMP_CWORD" -gt 0 ] && previous=${COMP_WORDS[COMP_CWORD - 1]}
  # --option=value comes in three words
  if [ "$current" = = ]; then current=; elif [ "$previous" = = ]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$_psdm_commands help --help --version" -- "$current")
    return
  fi
  if [ "$command" = help ]; then
    mapfile -t COMPREPLY < <(compgen -W "$_psdm_commands" -- "$current")
    return
  fi
  _psdm_valued "$command"
  case "$options" in
    *" $previous "*) _psdm_value "$command" "$previous" ;;
    *)
      if [ "${current#-}" != "$current" ]; then
        _psdm_options "$command"
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        return
      fi
      # which argument this is: words that are no options and no values of options
      for ((i = 2; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case "$word" in = | -?*) continue ;; esac
        case "$options" in *" ${COMP_WORDS[i - 1]} "*) continue ;; esac
        [ "${COMP_WORDS[i - 1]}" = = ] && continue
        place=$((place + 1))
      done
      _psdm_value "$command" "$place"
      ;;
  esac
  if [ -n "$list" ] && [ "${current%,*}" != "$current" ]; then head=${current%,*},; fi
  [ -n "$words" ] && mapfile -t COMPREPLY < <(compgen -P "$head" -W "$words" -- "${current#"$head"}")
  [ -n "$files" ] && _psdm_files "$files" "$current"
  [ -n "$list" ] && compopt -o nospace 2> /dev/null
  return 0
}

complete -F _psdm psdm
