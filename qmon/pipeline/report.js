'use strict';
// Sorting: a click on a heading sorts the rows of each group. Unknown values come last.
const key = cell => cell.dataset.s === undefined ? cell.textContent : cell.dataset.s === '' ? null : Number(cell.dataset.s);
const order = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
function sort(heading) {
  const place = heading.cellIndex, up = heading.getAttribute('aria-sort') === 'descending' ? 1 : -1;
  for (const other of heading.parentNode.cells) other.setAttribute('aria-sort', 'none');
  heading.setAttribute('aria-sort', up > 0 ? 'ascending' : 'descending');
  for (const body of heading.closest('table').tBodies) {
    const rows = [...body.rows].filter(row => !row.classList.contains('of')).map(row => [key(row.cells[place]), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : up * order(a, b));
    for (const [, row] of rows) body.append(row);
  }
}
for (const heading of document.querySelectorAll('thead th')) {
  heading.setAttribute('aria-sort', 'none');
  heading.tabIndex = 0;
  heading.addEventListener('click', () => sort(heading));
  heading.addEventListener('keydown', event => { if (event.key === 'Enter') sort(heading); });
}
// Hovering: show the values of a plot at the time below the pointer.
const tip = document.createElement('div');
tip.id = 'tip';
tip.hidden = true;
const two = number => String(number).padStart(2, '0');
function when(seconds) {
  const at = new Date(seconds * 1000), day = at.toUTCString().slice(0, 11);
  return `${day} ${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
}
for (const svg of document.querySelectorAll('.plot svg')) {
  const {start, step, end} = svg.dataset, lines = [...svg.querySelectorAll('[data-v]')].map(line => [line.dataset.n, line.dataset.v.split('|')]);
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(), share = (event.clientX - box.left) / box.width;
    const place = Math.floor(share * (end - start) / step);
    const told = lines.map(([name, values]) => `${name} ${values[place] || '–'}`);
    tip.textContent = `${when(Number(start) + place * step)}: ${told.join(', ')}`;
    tip.hidden = false;
    if (tip.parentNode !== svg.parentNode) svg.parentNode.append(tip);
    const room = svg.parentNode.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, svg.offsetLeft + share * box.width - tip.offsetWidth / 2))}px`;
    tip.style.top = '-.4rem';
  });
  svg.addEventListener('pointerleave', () => { tip.hidden = true; });
}
