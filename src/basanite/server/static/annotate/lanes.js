// Overlapping marks get lines below the text at different depths, each as high as it can be.
export function lanes(marks) {
  const laid = marks.flatMap((mark) => mark.parts.map(([start, end], part) => ({
    id: mark.id, category: mark.category, label: mark.label, part, start, end, length: end - start, lane: 0, tentative: mark.tentative ?? false,
  })));
  laid.sort((one, other) => one.start - other.start || other.end - one.end || (one.id < other.id ? -1 : 1));
  const busy = [];
  for (const one of laid) {
    let lane = 0;
    while (busy[lane] > one.start) lane += 1;
    busy[lane] = one.end;
    one.lane = lane;
  }
  return laid;
}
