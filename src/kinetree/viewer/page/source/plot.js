// The channels below the picture: one group of curves over time, with the present time.

const COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#333333"];
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 22, 20, 18];

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((x) => x * power >= raw) * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found.map((x) => [x, String(Number(x.toPrecision(6)))]);
}

export class Plot {
  constructor(canvas, now, channels, array) {
    [this.canvas, this.now] = [canvas, now]; // `now` is the mark of the present time
    this.channels = channels.map((x) => ({ ...x, time: array(x.time), values: array(x.values) }));
    this.choose(0);
  }

  choose(k) {
    this.channel = this.channels[k];
    let [low, high] = [Infinity, -Infinity];
    for (const x of this.channel.values) {
      if (x < low) low = x;
      if (x > high) high = x;
    }
    const least = 1e-6 * Math.max(1, Math.abs(low), Math.abs(high)); // constant curves stay flat
    const margin = high - low > least ? 0.06 * (high - low) : 0.5 * Math.max(1, Math.abs(high));
    [this.low, this.high] = [low - margin, high + margin];
    this.drawn = null;
  }

  get span() {
    const { time } = this.channel;
    return [time[0], Math.max(time[time.length - 1], time[0] + 1e-9)];
  }

  timeAt(x) {
    const [start, end] = this.span;
    const s = (x - LEFT) / (this.canvas.clientWidth - LEFT - RIGHT);
    return start + Math.min(Math.max(s, 0), 1) * (end - start);
  }

  draw(t) {
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    if (!width || !height) return;
    const drawn = [width, height, ratio].join();
    if (this.drawn !== drawn) {
      this.drawn = drawn;
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      const context = this.canvas.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.curves(context, width, height);
    }
    const [start, end] = this.span;
    const x = LEFT + ((t - start) / (end - start)) * (width - LEFT - RIGHT);
    this.now.style.transform = `translateX(${(x - 0.75).toFixed(2)}px)`; // curves are not drawn again
  }

  curves(context, width, height) {
    const { time, values, labels, unit } = this.channel;
    const [start, end] = this.span;
    const X = (t) => LEFT + ((t - start) / (end - start)) * (width - LEFT - RIGHT);
    const Y = (v) => height - BOTTOM - ((v - this.low) / (this.high - this.low)) * (height - TOP - BOTTOM);
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const [v, text] of ticks(this.low, this.high, 3)) {
      context.fillStyle = "#e3e7ec";
      context.fillRect(LEFT, Y(v), width - LEFT - RIGHT, 1);
      context.fillStyle = "#5b6672";
      context.textAlign = "right";
      context.fillText(text, LEFT - 6, Y(v));
    }
    context.textAlign = "center";
    for (const [t, text] of ticks(start, end, 8)) context.fillText(text + " s", X(t), height - 8);
    context.textAlign = "left";
    context.fillText(unit, 8, 9);
    let x = LEFT;
    const n = labels.length;
    labels.forEach((label, c) => {
      context.strokeStyle = context.fillStyle = COLORS[c % COLORS.length];
      context.lineWidth = 1.6;
      context.setLineDash(c < COLORS.length ? [] : [5, 3]);
      context.beginPath();
      for (let k = 0; k < time.length; k++) context.lineTo(X(time[k]), Y(values[k * n + c]));
      context.stroke();
      context.fillRect(x, 8, 12, 2.5);
      context.fillText(label, x + 16, 9);
      x += 30 + context.measureText(label).width;
    });
    context.setLineDash([]);
  }
}
