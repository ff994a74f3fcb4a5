# Fills DESTINATION/torch_anvil with links to the sources in SOURCE/torch_anvil
# and to the folder LIBRARIES, so that an edit needs no build. Run with cmake -P.
file(GLOB entries RELATIVE ${SOURCE}/torch_anvil ${SOURCE}/torch_anvil/*)
list(REMOVE_ITEM entries __pycache__)
foreach(entry ${entries})
  file(CREATE_LINK ${SOURCE}/torch_anvil/${entry} ${DESTINATION}/torch_anvil/${entry} SYMBOLIC)
endforeach()
file(CREATE_LINK ${LIBRARIES} ${DESTINATION}/torch_anvil/lib SYMBOLIC)
foreach(module torch_anvil_autoload.py torch_anvil_stock.py)
  file(CREATE_LINK ${SOURCE}/${module} ${DESTINATION}/${module} SYMBOLIC)
endforeach()

# Links whose source was removed or renamed.
file(GLOB linked ${DESTINATION}/torch_anvil/*)
foreach(path ${linked})
  if(IS_SYMLINK ${path} AND NOT EXISTS ${path})
    file(REMOVE ${path})
  endif()
endforeach()
