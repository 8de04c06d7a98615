// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;

import io.github.lockstarter.sample.lab.Instances.Instance;
import io.github.lockstarter.sample.lab.Sales.Answer;
import io.github.lockstarter.sample.lab.Sales.End;
import io.github.lockstarter.sample.lab.Sales.Numbers;
import io.github.lockstarter.sample.lab.Sales.Part;
import io.github.lockstarter.sample.lab.Sales.Result;
import io.github.lockstarter.servers.ServerProcess;

/**
 * Sells the same stock with one strategy after another. Each has a product of its own,
 * and sells another one before, which is not counted.
 */
final class LabRun {

	private static final Log logger = LogFactory.getLog(LabRun.class);

	/** Without the time that the fault {@code slow} costs. */
	private static final Duration LONGEST_SALE = Duration.ofSeconds(30);

	/**
	 * Longer than any lease, any pause, and the 10 seconds for which customers wait, as
	 * the locks of some libraries wake nobody when the lease of a dead owner has expired.
	 */
	static final Duration STUCK = Duration.ofSeconds(15);

	/**
	 * A sale that sold this recently is not stuck when its time is over. Also the time
	 * after a crash in which answers of sales from before it arrive.
	 */
	private static final Duration LIVELY = Duration.ofSeconds(1);

	private static final Duration LONGEST_WARM_UP = Duration.ofSeconds(5);

	private static final int WARM_UP_PURCHASES = 5;

	/** Longer than customers of the shop wait for others. */
	private static final Duration ANSWER = Duration.ofSeconds(12);

	private static final long FRAME_MILLIS = 100;

	/** Not those of a former run, or of a shop that was started before. */
	private static final AtomicLong products = new AtomicLong(System.currentTimeMillis());

	private static final HttpClient http = Instances.newClient();

	private static final JsonMapper json = JsonMapper.shared();

	private final String id = UUID.randomUUID().toString();

	private final Request request;

	private final Map<String, Strategy> strategies;

	private final Instances instances;

	private final URI shop;

	private final LongSupplier clock;

	private final ExecutorService customers = Executors.newCachedThreadPool();

	/** The last one is the current one. */
	private final List<Sale> sales = new CopyOnWriteArrayList<>();

	private final Thread thread;

	private List<URI> addresses = List.of();

	private long startingSince;

	private volatile String phase = "";

	private volatile String message = "";

	private volatile boolean stopped;

	/**
	 * Create a run.
	 * @param strategies the known ones by their names
	 * @param shop the address of a shop that keeps the books
	 * @param clock in nanoseconds
	 */
	LabRun(Request request, Map<String, Strategy> strategies, Instances instances, URI shop, LongSupplier clock) {
		this.request = request;
		this.strategies = strategies;
		this.instances = instances;
		this.shop = shop;
		this.clock = clock;
		this.thread = new Thread(this::run, "lab");
		this.thread.setDaemon(true);
		sayStarting();
	}

	private void sayStarting() {
		this.startingSince = this.clock.getAsLong();
		say("starting",
				"Starting %d instance%s".formatted(this.request.instances, (this.request.instances == 1) ? "" : "s"));
	}

	LabRun start() {
		this.thread.start();
		return this;
	}

	String id() {
		return this.id;
	}

	/**
	 * Note what somebody does to an instance.
	 * @param what what, as in {@code "shop-1 was killed"}
	 */
	void note(String what) {
		if (!this.sales.isEmpty() && !hasEnded()) {
			this.sales.get(this.sales.size() - 1).byHand.add(what);
		}
	}

	boolean hasEnded() {
		return this.phase.equals("ended");
	}

	/**
	 * Let it end early.
	 */
	void stop() {
		this.stopped = true;
		this.thread.interrupt();
	}

	private void run() {
		try {
			for (String name : this.request.strategies) {
				sellWith(Objects.requireNonNull(this.strategies.get(name)));
			}
			say("ended", "All strategies have sold");
		}
		catch (Exception ex) {
			if (!this.stopped) {
				logger.warn("The run has failed", ex);
			}
			say("ended", this.stopped ? "Stopped" : "Failed: " + ex.getMessage() + "; the log of the shop says more");
		}
		finally {
			this.customers.shutdownNow();
		}
	}

	private void sellWith(Strategy strategy) throws Exception {
		Sale sale = new Sale(strategy, this.request.stock, Integer.MAX_VALUE, this.request.fault);
		// Also those that have crashed under the strategy before
		if (instances().anyMatch((instance) -> !instance.isAlive())) {
			sayStarting();
		}
		this.addresses = this.instances.start(this.request.instances);
		this.sales.add(sale);
		say("warming-up", "Warming up " + strategy.name);
		new Sale(strategy, this.request.users * WARM_UP_PURCHASES, WARM_UP_PURCHASES, Fault.NONE).run(LONGEST_WARM_UP);
		say("selling", String.format(Locale.ENGLISH, "Selling %,d pieces with %s", this.request.stock, strategy.name));
		End end = sale.run(LONGEST_SALE.plus(sale.slowness()));
		JsonNode books = keepBooks(stock(sale.product));
		sale.result = Result.of(strategy, this.request, sale.numbers.numbers()
			.booked(books.get("sold").asLong(), books.get("oversold").asLong(), Math.abs(books.path("lost").asLong(0))),
				end, sale.hasStruck(), List.copyOf(sale.byHand));
	}

	private void say(String phase, String message) {
		this.message = message;
		this.phase = phase;
	}

	/** What goes on now. */
	private String message(List<Instances.View> instances) {
		if (this.phase.equals("starting")) {
			return "%s: %d s, at most %d s".formatted(this.message,
					TimeUnit.NANOSECONDS.toSeconds(this.clock.getAsLong() - this.startingSince),
					ServerProcess.PATIENCE.toSeconds());
		}
		String paused = instances.stream()
			.filter((instance) -> instance.state().equals("paused"))
			.map(Instances.View::name)
			.collect(Collectors.joining(" and "));
		return paused.isEmpty() ? this.message : this.message + ", paused: " + paused;
	}

	private HttpRequest.Builder stock(long product) {
		return HttpRequest.newBuilder(this.shop.resolve("/api/stock/" + product)).timeout(ANSWER);
	}

	private static JsonNode keepBooks(HttpRequest.Builder request) throws IOException, InterruptedException {
		HttpResponse<String> response = send(request);
		if (response.statusCode() != 200) {
			throw new IOException("The shop answers " + response.statusCode() + ": " + response.body());
		}
		return json.readTree(response.body());
	}

	private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
		return http.send(request.build(), BodyHandlers.ofString());
	}

	/**
	 * Write events until this run has ended: the whole state, then what is new ten times
	 * a second, and the result of each strategy.
	 */
	void writeEvents(OutputStream out) throws IOException, InterruptedException {
		int index = Math.max(this.sales.size() - 1, 0);
		Part part = part(index, 0);
		int sold = part.pieces().size();
		List<Instances.View> views = views();
		write(out, "state",
				new State(this.id, this.request, this.phase, message(views), current(index), timesSold(part.pieces()),
						part.numbers(), views,
						this.sales.subList(0, Math.min(index, this.sales.size()))
							.stream()
							.map((sale) -> Objects.requireNonNull(sale.result))
							.toList()));
		while (true) {
			// Read first, because nothing else changes after it
			boolean ended = hasEnded();
			for (; index < this.sales.size(); index++) {
				Result result = this.sales.get(index).result;
				if (result == null && !ended) {
					break;
				}
				writeFrame(out, index, sold);
				if (result != null) {
					write(out, "result", result);
				}
				sold = 0;
			}
			if (ended) {
				write(out, "end", Map.of("phase", this.phase, "message", this.message));
				return;
			}
			sold += writeFrame(out, index, sold);
			TimeUnit.MILLISECONDS.sleep(FRAME_MILLIS);
		}
	}

	private int writeFrame(OutputStream out, int index, int sold) throws IOException {
		Part part = part(index, sold);
		List<Instances.View> views = views();
		write(out, "frame",
				new Frame(this.phase, message(views), current(index), part.pieces(), part.numbers(), views));
		return part.pieces().size();
	}

	private static void write(OutputStream out, String event, Object data) throws IOException {
		out.write(("event: %s\ndata: %s\n\n".formatted(event, json.writeValueAsString(data)))
			.getBytes(StandardCharsets.UTF_8));
		out.flush();
	}

	private Part part(int index, int sold) {
		return ((index < this.sales.size()) ? this.sales.get(index).numbers : new Sales(this.request.stock, this.clock))
			.after(sold);
	}

	private @Nullable Current current(int index) {
		return (index < this.sales.size()) ? new Current(index, this.sales.get(index).strategy.name) : null;
	}

	private int[] timesSold(List<Integer> pieces) {
		int[] times = new int[this.request.stock];
		pieces.forEach((piece) -> times[piece]++);
		return times;
	}

	private List<Instances.View> views() {
		return instances().map(Instance::view).toList();
	}

	private Stream<Instance> instances() {
		return this.instances.first(this.request.instances).stream();
	}

	private boolean haveAllEnded() {
		List<Instance> all = this.instances.first(this.request.instances);
		return !all.isEmpty() && all.stream().noneMatch(Instance::isAlive);
	}

	/**
	 * The sale of one product.
	 */
	private final class Sale {

		private final long product = products.incrementAndGet();

		private final Strategy strategy;

		private final int stock;

		private final int purchases;

		private final Fault fault;

		private final Sales numbers;

		private final AtomicInteger requests = new AtomicInteger();

		/** Whether a request was sent that is to meet the only fault. */
		private final AtomicBoolean sent = new AtomicBoolean();

		private final List<String> byHand = new CopyOnWriteArrayList<>();

		/** Whether the fault took place. */
		private volatile boolean struck;

		/** Who buys later buys after a fault. */
		private volatile @Nullable Long lastBeforeFault;

		private volatile boolean over;

		private volatile @Nullable Result result;

		/**
		 * Create a sale.
		 * @param purchases how many pieces a customer buys, unless they are sold out
		 */
		Sale(Strategy strategy, int stock, int purchases, Fault fault) {
			this.strategy = strategy;
			this.stock = stock;
			this.purchases = purchases;
			this.fault = fault;
			this.numbers = new Sales(stock, LabRun.this.clock);
		}

		boolean hasStruck() {
			return this.struck || this.fault == Fault.NONE;
		}

		private void strike() {
			this.struck = true;
			if (this.lastBeforeFault == null) {
				this.lastBeforeFault = LabRun.this.clock.getAsLong();
			}
		}

		private void look() {
			instances().filter(Instance::look).forEach((stopped) -> strike());
			if (instances().anyMatch((instance) -> !instance.isAlive())) {
				this.struck |= this.fault == Fault.CRASH && this.sent.get();
				if (this.lastBeforeFault == null) {
					this.lastBeforeFault = LabRun.this.clock.getAsLong() + LIVELY.toNanos();
				}
			}
		}

		/** Whether there was a fault, and nobody has bought anything since. */
		private boolean isLocked() {
			Long last = this.lastBeforeFault;
			return last != null && this.numbers.sinceLastSale() >= LabRun.this.clock.getAsLong() - last;
		}

		/** Without a lock the slow sales would not have to wait for each other. */
		Duration slowness() {
			return (this.fault == Fault.SLOW) ? Duration.ofMillis(300).multipliedBy(this.stock / 10) : Duration.ZERO;
		}

		/**
		 * Sell until nobody wants to buy any more, the time is over, or twice the stock
		 * is sold, which is proof enough.
		 */
		End run(Duration limit) throws Exception {
			keepBooks(stock(this.product).PUT(BodyPublishers.ofString("{\"count\":" + this.stock + "}"))
				.header("Content-Type", "application/json"));
			this.numbers.start();
			long start = LabRun.this.clock.getAsLong();
			List<Future<?>> all = new ArrayList<>();
			for (int i = 0; i < LabRun.this.request.users; i++) {
				int customer = i;
				all.add(LabRun.this.customers.submit(() -> buy(customer)));
			}
			End end = End.SOLD_OUT;
			int sold = 0;
			while (!all.stream().allMatch(Future::isDone)) {
				sold = this.over ? sold : this.numbers.sold();
				if (this.over) {
					// The last customers get their answers
				}
				else if (haveAllEnded()) {
					end = End.NO_INSTANCE;
					this.over = true;
				}
				else if (this.numbers.sinceLastSale() > STUCK.toNanos()) {
					end = isLocked() ? End.LOCKED : End.STUCK;
					this.over = true;
				}
				else if (this.numbers.sold() >= 2 * this.stock
						|| (LabRun.this.clock.getAsLong() - start > limit.toNanos()
								&& this.numbers.sinceLastSale() < LIVELY.toNanos())) {
					end = End.TIME_OVER;
					this.over = true;
				}
				look();
				TimeUnit.MILLISECONDS.sleep(FRAME_MILLIS / 2);
			}
			look();
			this.numbers.end();
			if ((end == End.STUCK || end == End.LOCKED) && this.numbers.sold() > sold) {
				// One of the last customers could buy after all
				end = End.TIME_OVER;
			}
			instances().forEach(Instance::forget);
			for (Future<?> customer : all) {
				customer.get();
			}
			return end;
		}

		/**
		 * Buy one piece after another. A customer goes to another instance only if its
		 * own one does not answer.
		 */
		private Void buy(int customer) throws InterruptedException {
			int instance = customer;
			for (int i = 0; i < this.purchases && !this.over; i++) {
				Fault met = nextFault();
				long start = LabRun.this.clock.getAsLong();
				Answer answer = ask(LabRun.this.addresses.get(instance % LabRun.this.addresses.size()), met, start);
				if (answer == Answer.SOLD_OUT) {
					break;
				}
				if (answer == Answer.BUSY && (met == Fault.PAUSE || met == Fault.CRASH)) {
					// It did not come to its write
					this.sent.set(false);
				}
				else if ((answer == Answer.SOLD || answer == Answer.REFUSED)
						&& (met == Fault.SLOW || met == Fault.PAUSE)) {
					this.struck = true;
				}
				if (answer == Answer.FAILED) {
					instance++;
					TimeUnit.MILLISECONDS.sleep(FRAME_MILLIS);
				}
			}
			return null;
		}

		private Fault nextFault() {
			int number = this.requests.incrementAndGet();
			boolean strikes = switch (this.fault) {
				case NONE -> false;
				case SLOW -> number % 10 == 0;
				default -> this.numbers.sold() >= this.stock / 2 && this.sent.compareAndSet(false, true);
			};
			if (strikes && (this.fault == Fault.REDIS_RESTART || this.fault == Fault.FLUSHALL)) {
				strike();
			}
			if (strikes && this.fault == Fault.REDIS_RESTART) {
				LabRun.this.instances.restartRedis();
			}
			else if (strikes && this.fault == Fault.FLUSHALL) {
				LabRun.this.instances.flushRedis();
			}
			return strikes ? this.fault : Fault.NONE;
		}

		private Answer ask(URI address, Fault met, long start) throws InterruptedException {
			HttpRequest.Builder sale = HttpRequest
				.newBuilder(address
					.resolve("/api/stock/%d/deductions?strategy=%s".formatted(this.product, this.strategy.name)))
				.timeout(ANSWER)
				.header(Fault.HEADER, met.id())
				.POST(BodyPublishers.noBody());
			Answer answer = Answer.FAILED;
			try {
				HttpResponse<String> response = send(sale);
				answer = Answer.of(response.statusCode(), response.body());
				if (answer == Answer.SOLD) {
					this.numbers.sold(json.readTree(response.body()).get("remaining").asInt(),
							LabRun.this.clock.getAsLong() - start);
					return answer;
				}
			}
			catch (IOException ex) {
				// The instance has crashed, or was stopped for too long
			}
			this.numbers.answered(answer, LabRun.this.clock.getAsLong() - start);
			return answer;
		}

	}

	/**
	 * What is sold, and how.
	 */
	record Request(List<String> strategies, int instances, int users, int stock, Fault fault) {

		Request {
			// Either may be missing in a request
			strategies = (strategies != null) ? List.copyOf(strategies) : List.of();
			fault = (fault != null) ? fault : Fault.NONE;
		}

		static final Limits LIMITS = new Limits(Instances.LIMIT, 200, 2000, 12);

		static final Request DEFAULTS = new Request(List.of("none", "distributed-lock"), 2, 50, 500, Fault.NONE);

		/**
		 * Guesses nothing: no fraction is a number of customers, and no number a fault.
		 */
		private static final JsonMapper strict = JsonMapper.builder()
			.disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
			.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
			.enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
			.build();

		/**
		 * Read what is to be sold.
		 * @param known the strategies by their names
		 * @throws IllegalArgumentException with the reason if it cannot be sold
		 */
		static Request read(String body, Map<String, Strategy> known) {
			Request request;
			try {
				request = Objects.requireNonNull(strict.readValue(body, Request.class));
			}
			catch (JacksonException | NullPointerException ex) {
				String field = (ex instanceof JacksonException wrong && !wrong.getPath().isEmpty())
						? wrong.getPath().get(0).getPropertyName() : null;
				throw new IllegalArgumentException(expected(field), ex);
			}
			String unknown = request.strategies.stream()
				.filter((name) -> !known.containsKey(name))
				.collect(Collectors.joining(", "));
			if (!unknown.isEmpty()) {
				throw new IllegalArgumentException("This shop does not have the strategy " + unknown);
			}
			checkLimit("strategies", request.strategies.size(), LIMITS.strategies);
			checkLimit("instances", request.instances, LIMITS.instances);
			checkLimit("users", request.users, LIMITS.users);
			checkLimit("pieces", request.stock, LIMITS.stock);
			return request;
		}

		private static String expected(@Nullable String field) {
			String allowed = switch ((field != null) ? field : "") {
				case "strategies" -> "a list of names";
				case "instances" -> "a whole number from 1 to " + LIMITS.instances;
				case "users" -> "a whole number from 1 to " + LIMITS.users;
				case "stock" -> "a whole number from 1 to " + LIMITS.stock;
				case "fault" -> "one of " + Stream.of(Fault.values()).map(Fault::id).collect(Collectors.joining(", "));
				default -> "";
			};
			return !allowed.isEmpty() ? "'%s' has to be %s".formatted(field, allowed)
					: "Send JSON such as " + json.writeValueAsString(DEFAULTS);
		}

		private static void checkLimit(String what, int number, int limit) {
			if (number < 1 || number > limit) {
				throw new IllegalArgumentException("Choose 1 to %d %s, not %d".formatted(limit, what, number));
			}
		}

	}

	record Limits(int instances, int users, int stock, int strategies) {
	}

	/**
	 * A strategy as {@code strategies.json} describes it.
	 *
	 * @param profile without which the shop does not have it
	 */
	record Strategy(String name, String family, String description, String expectation, @Nullable String profile) {
	}

	record Current(int index, String strategy) {
	}

	private record State(String id, Request request, String phase, String message, @Nullable Current current,
			int[] pieces, Numbers numbers, List<Instances.View> instances, List<Result> results) {
	}

	private record Frame(String phase, String message, @Nullable Current current, List<Integer> sold, Numbers numbers,
			List<Instances.View> instances) {
	}

}
