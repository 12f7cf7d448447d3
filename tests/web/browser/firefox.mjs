/**
 * The page in Firefox, steered by WebDriver BiDi: node firefox.mjs ORDER, a JSON text.
 *
 * ORDER has `module` (address of puppeteer-core), `firefox`, `address`, `places` (selectors), `picture` (a file) and
 * `name`. One JSON text is printed: for each task what it found, or the error in it.
 */

const order = JSON.parse(process.argv[2]);
const { default: puppeteer } = await import(order.module);
const at = order.places;
const PATIENCE = 30_000;

const tasks = {
  async search(page) {
    await rest(page);
    await page.type(at.query, order.name);
    await page.keyboard.press("Enter");
    await page.waitForSelector(at.result, { timeout: PATIENCE });
    await rest(page);
    return { title: await text(page, at.title), results: await count(page, at.result), wide: await overflow(page) };
  },

  async viewer(page) {
    await tasks.search(page);
    await page.evaluate((selector) => document.querySelector(selector).click(), at.result);
    await page.waitForSelector(`${at.viewer}[open]`, { timeout: PATIENCE });
    await page.waitForFunction(`document.querySelector("${at.picture}")?.naturalWidth > 0`, { timeout: PATIENCE });
    const first = await text(page, at.position);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(
      (selector, before) => document.querySelector(selector).textContent !== before, { timeout: PATIENCE }, at.position, first,
    );
    const second = await text(page, at.position);
    await page.keyboard.press("Escape");
    await page.waitForSelector(`${at.viewer}:not([open])`, { timeout: PATIENCE, hidden: false }).catch(() => null);
    return { first, second, open: await count(page, `${at.viewer}[open]`) };
  },

  async upload(page) {
    await rest(page);
    const input = await page.$(at.file);
    await input.uploadFile(order.picture);
    await page.waitForSelector(at.result, { timeout: PATIENCE });
    await rest(page);
    return { results: await count(page, at.result) };
  },

  async keyboard(page) {
    await rest(page);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("/");
    const field = await page.evaluate((selector) => document.activeElement === document.querySelector(selector), at.query);
    await page.keyboard.type(order.name);
    await page.keyboard.press("Enter");
    await page.waitForSelector(at.result, { timeout: PATIENCE });
    await rest(page);
    await page.goto(page.url());
    await page.waitForSelector(at.result, { timeout: PATIENCE });
    await rest(page);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter"); // past what is above the pictures
    let tabs = 1;
    while (tabs < 12 && !(await isResult(page))) {
      await page.keyboard.press("Tab");
      tabs += 1;
    }
    const before = await here(page);
    await page.keyboard.press("ArrowRight");
    return { field, tabs, moved: (await here(page)) !== before && (await isResult(page)) };
  },
};

const rest = (page) => page.waitForFunction("document.body.dataset.shown === location.search", { timeout: PATIENCE });
const text = (page, selector) => page.$eval(selector, (found) => found.textContent);
const count = (page, selector) => page.$$eval(selector, (found) => found.length);
const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
const isResult = (page) => page.evaluate((selector) => document.activeElement.matches(selector), at.result);
const here = (page) =>
  page.evaluate((selector) => [...document.querySelectorAll(selector)].indexOf(document.activeElement), at.result);

const browser = await puppeteer.launch({ browser: "firefox", executablePath: order.firefox, headless: true });
const found = {};
try {
  for (const [name, task] of Object.entries(tasks)) {
    const page = await browser.newPage();
    const wrong = [];
    page.on("pageerror", (error) => wrong.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith(order.address) && !/^(blob|data|about):/.test(request.url())) wrong.push(request.url());
    });
    try {
      await page.goto(order.address);
      found[name] = { ...(await task(page)), wrong };
    } catch (error) {
      found[name] = { error: String(error), wrong };
    }
    await page.close();
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(found));
