-- links between .md files become links between pages; the README and the change log live beside the others
local function page(target)
  if target:match('^%a+://') or target:match('^#') or target:match('^mailto:') then return target end
  local file, fragment = target:match('^([^#]*)(#?.*)$')
  file = file:gsub('^%.%./', ''):gsub('^docs/', '')
  if file == 'README.md' then file = 'index.md' else file = file:gsub('^CHANGELOG', 'changelog'):gsub('^CONTRIBUTING', 'contributing') end
  return file:gsub('%.md$', '.html') .. fragment
end

function Link(link)
  -- a file of the repository that is no page keeps its name only
  if link.target:match('^%.%./') and not link.target:match('%.md') then return link.content end
  link.target = page(link.target)
  return link
end

function Image(image)
  image.src = image.src:gsub('^docs/', '')
  return image
end
