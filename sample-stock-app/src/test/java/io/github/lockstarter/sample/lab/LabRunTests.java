// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.core.io.ClassPathResource;
import org.springframework.http.MediaType;
import org.springframework.mock.env.MockEnvironment;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

import io.github.lockstarter.sample.lab.Instances.Instance;
import io.github.lockstarter.sample.lab.LabRun.Request;
import io.github.lockstarter.sample.lab.LabRun.Strategy;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A run that buys from a shop in this JVM, which sells each piece twice under one of its
 * strategies.
 */
@Tag("clock")
class LabRunTests {

	private static final int STOCK = 50;

	private static final String REQUEST = "{\"strategies\":[\"none\"],\"instances\":1,\"users\":1,\"stock\":1}";

	private static final Map<String, Strategy> STRATEGIES = Stream.of("twice", "once", "half", "never")
		.collect(Collectors.toMap((name) -> name, (name) -> new Strategy(name, "jvm", "", "right", null)));

	static {
		// Else each answer takes 40 ms
		System.setProperty("sun.net.httpserver.nodelay", "true");
	}

	private final Map<String, Product> products = new ConcurrentHashMap<>();

	private final List<String> faults = new CopyOnWriteArrayList<>();

	private final AtomicInteger turnedAway = new AtomicInteger();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final CountDownLatch start = new CountDownLatch(1);

	private final AtomicLong nanos = new AtomicLong();

	/** Whether nobody can buy any more from a shop that sells half of its stock. */
	private volatile boolean locked;

	/** Those that the run sees, and is asked for twice each time it looks. */
	private List<Instance> seen = List.of();

	private Instant now = Instant.EPOCH;

	private boolean ended;

	private HttpServer shop;

	private Instances instances;

	@BeforeEach
	void open() throws IOException {
		this.shop = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.shop.createContext("/api/stock/", this::answer);
		this.shop.setExecutor(this.threads);
		this.shop.start();
		this.instances = new Instances(new MockEnvironment()) {

			@Override
			List<URI> start(int count) {
				try {
					LabRunTests.this.start.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				return List.of(address(), address());
			}

			@Override
			synchronized List<Instance> first(int count) {
				LabRunTests.this.nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(250));
				return LabRunTests.this.seen;
			}

			@Override
			synchronized void end(boolean forEver) {
				LabRunTests.this.ended = true;
			}

		};
	}

	@AfterEach
	void close() {
		this.shop.stop(0);
		this.threads.shutdownNow();
	}

	@Test
	void eachPieceIsShownAsOftenAsItWasSold() throws Exception {
		LabRun run = run(Fault.NONE, "twice", "once");
		// The page is as slow as can be
		List<JsonNode> events = follow(run, new ByteArrayOutputStream() {

			@Override
			public void flush() {
				LabRunTests.this.start.countDown();
				Awaitility.await().until(run::hasEnded);
			}

		});
		assertThat(events).extracting((event) -> event.get("event").asString())
			.containsExactly("state", "frame", "result", "frame", "result", "end");
		assertThat(timesSold(events, 0)).containsOnly(2).hasSize(STOCK);
		assertThat(timesSold(events, 1)).containsOnly(1).hasSize(STOCK);
		List<JsonNode> results = results(events);
		assertThat(results).extracting((result) -> result.get("sentence").asString())
			.containsExactly("Sold 100 of 50 pieces: 50 that do not exist", "Sold 50 of 50 pieces, each of them once");
		assertThat(results).extracting((result) -> result.get("verdict").asString()).containsExactly("wrong", "right");
		assertThat(results.get(0).get("soldTwice").asInt()).isEqualTo(STOCK);
		assertThat(results.get(0).get("lost").asInt()).isEqualTo(STOCK);
		// Who comes later sees the same end
		List<JsonNode> again = follow(run);
		assertThat(again.get(0).get("pieces")).hasSize(STOCK).allMatch((times) -> times.asInt() == 1);
		assertThat(again.get(0).get("results")).hasSize(1);
		assertThat(results(again)).containsExactly(results.get(1));
	}

	@Test
	void theLabDecidesWhichSaleMeetsAFault() throws Exception {
		this.start.countDown();
		assertThat(results(follow(run(Fault.SLOW, "once")))).singleElement()
			.satisfies((result) -> assertThat(result.get("verdict").asString()).isEqualTo("right"))
			.satisfies((result) -> assertThat(result.get("struck").asBoolean()).isTrue());
		assertThat(this.faults).filteredOn("slow"::equals).hasSize((STOCK + 4) / 10);
		this.faults.clear();
		// Here it meets a shop that cannot crash
		assertThat(results(follow(run(Fault.CRASH, "once")))).singleElement()
			.satisfies((result) -> assertThat(result.get("verdict").asString()).isEqualTo("unfinished"))
			.satisfies((result) -> assertThat(result.get("struck").asBoolean()).isFalse());
		assertThat(this.faults).filteredOn("crash"::equals).hasSize(1);
		assertThat(this.faults.indexOf("crash")).as("after the warm-up").isGreaterThanOrEqualTo(4 * 5 + STOCK / 2);
	}

	@Test
	void aFaultWaitsForASaleThatComesToItsWrite() throws Exception {
		this.start.countDown();
		this.turnedAway.set(3);
		follow(run(Fault.PAUSE, "once"));
		assertThat(this.faults).filteredOn("pause"::equals).hasSize(4);
	}

	@Test
	void whereNobodyBuysForFifteenSecondsOnlyAFaultIsAProof() throws Exception {
		this.start.countDown();
		// Even if the time was over before
		assertThat(results(follow(run(Fault.NONE, "half")))).singleElement().satisfies((result) -> {
			assertThat(result.get("sentence").asString())
				.isEqualTo("Sold 25 of 50 pieces, and then nobody bought anything for 15 seconds");
			assertThat(result.get("verdict").asString()).isEqualTo("unfinished");
		});
		Instance alive = instance("running");
		Instance dying = instance("running");
		this.locked = false;
		Mockito.when(dying.isAlive()).thenAnswer((call) -> !this.locked);
		this.seen = List.of(alive, dying);
		LabRun run = run(Fault.NONE, "half");
		List<JsonNode> events = follow(run, new ByteArrayOutputStream() {

			@Override
			public void flush() {
				run.note("shop-2 was killed");
			}

		});
		assertThat(results(events)).singleElement().satisfies((result) -> {
			assertThat(result.get("verdict").asString()).isEqualTo("wrong");
			assertThat(result.get("byHand").get(0).asString()).isEqualTo("shop-2 was killed");
		});
	}

	@Test
	void aStartTellsItsTimeAndWhyItFails() throws Exception {
		this.instances = new Instances(new MockEnvironment()) {

			@Override
			List<URI> start(int count) {
				try {
					LabRunTests.this.start.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalArgumentException(ex);
				}
				throw new IllegalStateException("shop-1 ended before it served");
			}

		};
		LabRun run = run(Fault.NONE, "once");
		this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(7));
		List<JsonNode> events = follow(run, new ByteArrayOutputStream() {

			@Override
			public void flush() {
				LabRunTests.this.start.countDown();
			}

		});
		assertThat(events.get(0).get("message").asString()).isEqualTo("Starting 2 instances: 7 s, at most 180 s");
		assertThat(events.get(events.size() - 1).get("message").asString())
			.isEqualTo("Failed: shop-1 ended before it served; the log of the shop says more");
	}

	@Test
	void aPausedInstanceIsNamed() throws Exception {
		this.start.countDown();
		this.seen = List.of(instance("running"), instance("paused"));
		List<JsonNode> events = follow(run(Fault.NONE, "once"));
		assertThat(events).filteredOn((event) -> event.path("phase").asString().equals("selling"))
			.isNotEmpty()
			.allSatisfy((event) -> assertThat(event.get("message").asString())
				.isEqualTo("Selling 50 pieces with once, paused: shop-1"));
	}

	private static Instance instance(String state) {
		Instance instance = Mockito.mock(Instance.class);
		Mockito.when(instance.isAlive()).thenReturn(!state.equals("ended"));
		Mockito.when(instance.view()).thenReturn(new Instances.View(1, "shop-1", state, false, 0));
		return instance;
	}

	@Test
	void aSaleEndsWithItsInstances() throws Exception {
		this.start.countDown();
		this.seen = List.of(instance("ended"), instance("ended"));
		assertThat(results(follow(run(Fault.NONE, "half")))).singleElement()
			.satisfies((result) -> assertThat(result.get("sentence").asString())
				.matches("Sold \\d+ of 50 pieces, each of them once, until no instance was left"))
			.satisfies((result) -> assertThat(result.get("verdict").asString()).isEqualTo("unfinished"));
	}

	@Test
	void aRedisThatDiedIsReplaced() {
		Instances own = new Instances(new MockEnvironment());
		try {
			own.start(0);
			own.redis().kill();
			own.start(0);
			assertThat(own.redis().command("PING")).isEqualTo("PONG");
		}
		finally {
			own.end(true);
		}
	}

	@Test
	void aRunThatIsStoppedHasNoResult() throws Exception {
		this.start.countDown();
		LabRun run = run(Fault.NONE, "never");
		run.stop();
		List<JsonNode> events = follow(run);
		assertThat(results(events)).isEmpty();
		assertThat(events.get(events.size() - 1).get("message").asString()).isEqualTo("Stopped");
	}

	@Test
	void oneRunAtATime() throws Exception {
		LabController controller = controller();
		MockMvc mvc = MockMvcBuilders.standaloneSetup(controller).build();
		MockHttpServletResponse started = press(mvc);
		assertThat(started.getStatus()).isEqualTo(201);
		String id = JsonMapper.shared().readTree(started.getContentAsString()).get("id").asString();
		MockHttpServletResponse refused = press(mvc);
		assertThat(refused.getStatus()).isEqualTo(409);
		assertThat(controller.lab().run()).isEqualTo(new LabController.Id(id));
		mvc.perform(MockMvcRequestBuilders.delete("/api/lab/runs/" + id));
		assertThat(mvc.perform(MockMvcRequestBuilders.get("/api/lab/runs/" + id + "/events"))
			.andReturn()
			.getResponse()
			.getContentAsString()).startsWith("event: state\ndata: {").contains("event: end\n");
		assertThat(controller.lab().run()).isNull();
		assertThat(press(mvc).getStatus()).isEqualTo(201);
		controller.close();
	}

	@Test
	void noMorePagesFollowThanThereAreThreadsFor() throws Exception {
		LabController controller = controller();
		MockMvc mvc = MockMvcBuilders.standaloneSetup(controller).build();
		String id = controller.start(REQUEST).id();
		ExecutorCompletionService<Integer> pages = new ExecutorCompletionService<>(this.threads);
		for (int i = 0; i < 21; i++) {
			pages.submit(() -> mvc.perform(MockMvcRequestBuilders.get("/api/lab/runs/" + id + "/events"))
				.andReturn()
				.getResponse()
				.getStatus());
		}
		assertThat(Objects.requireNonNull(pages.poll(20, TimeUnit.SECONDS), "All of them follow").get()).isEqualTo(503);
		controller.stop(id);
		for (int i = 0; i < 20; i++) {
			assertThat(pages.take().get()).isEqualTo(200);
		}
	}

	@Test
	void instancesAreNotKeptForEver() throws Exception {
		LabController controller = controller();
		String id = controller.start(REQUEST).id();
		this.now = this.now.plus(Duration.ofMinutes(11));
		controller.endIdleInstances();
		assertThat(this.ended).as("during a run").isFalse();
		controller.stop(id);
		Awaitility.await().until(() -> controller.lab().run() == null);
		this.now = this.now.plus(Duration.ofMinutes(9));
		controller.endIdleInstances();
		assertThat(this.ended).as("soon after a run").isFalse();
		this.now = this.now.plus(Duration.ofMinutes(2));
		controller.endIdleInstances();
		assertThat(this.ended).isTrue();
	}

	private LabController controller() throws IOException {
		return new LabController(this.instances, new LabAccess(InetAddress.getLoopbackAddress(), "none"),
				new MockEnvironment().withProperty("local.server.port", "" + this.shop.getAddress().getPort()),
				() -> this.now, Map.of("none", (product, count) -> 0), new ClassPathResource("strategies.json"));
	}

	private static MockHttpServletResponse press(MockMvc mvc) throws Exception {
		return mvc.perform(
				MockMvcRequestBuilders.post("/api/lab/runs").contentType(MediaType.APPLICATION_JSON).content(REQUEST))
			.andReturn()
			.getResponse();
	}

	private LabRun run(Fault fault, String... strategies) {
		return new LabRun(new Request(List.of(strategies), 2, 4, STOCK, fault), STRATEGIES, this.instances, address(),
				this.nanos::get)
			.start();
	}

	private URI address() {
		return URI.create("http://127.0.0.1:" + this.shop.getAddress().getPort());
	}

	private static List<JsonNode> follow(LabRun run) throws Exception {
		return follow(run, new ByteArrayOutputStream());
	}

	private static List<JsonNode> follow(LabRun run, ByteArrayOutputStream out) throws Exception {
		run.writeEvents(out);
		List<JsonNode> events = new ArrayList<>();
		for (String event : out.toString(StandardCharsets.UTF_8).split("\n\n")) {
			String[] lines = event.split("\n");
			events.add(JsonMapper.shared()
				.readTree(
						lines[1].replaceFirst("data: \\{", "{\"event\":\"" + lines[0].replace("event: ", "") + "\",")));
		}
		return events;
	}

	private static List<JsonNode> results(List<JsonNode> events) {
		return events.stream().filter((event) -> event.get("event").asString().equals("result")).toList();
	}

	/** How often each piece was sold, as a page counts it. */
	private static List<Integer> timesSold(List<JsonNode> events, int index) {
		List<Integer> times = new ArrayList<>();
		events.stream()
			.filter((event) -> event.has("sold") && event.path("current").path("index").asInt(-1) == index)
			.flatMap((event) -> event.get("sold").valueStream())
			.forEach((piece) -> {
				while (times.size() <= piece.asInt()) {
					times.add(0);
				}
				times.set(piece.asInt(), times.get(piece.asInt()) + 1);
			});
		return times;
	}

	private void answer(HttpExchange exchange) throws IOException {
		String[] path = exchange.getRequestURI().getPath().split("/");
		String method = exchange.getRequestMethod();
		String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
		if (method.equals("PUT")) {
			this.products.put(path[3], new Product(Integer.parseInt(body.replaceAll("\\D", ""))));
		}
		Product product = this.products.get(path[3]);
		String fault = exchange.getRequestHeaders().getFirst(Fault.HEADER);
		if (!method.equals("POST")) {
			send(exchange, 200, "{\"sold\":%d,\"oversold\":%d,\"lost\":%d}".formatted(product.sold.get(),
					Math.max(0, product.sold.get() - product.stock), Math.min(0, product.stock - product.sold.get())));
			return;
		}
		this.faults.add(fault);
		if (!fault.equals("none") && this.turnedAway.getAndDecrement() > 0) {
			send(exchange, 503, "{}");
			return;
		}
		int times = exchange.getRequestURI().getQuery().endsWith("twice") ? 2 : 1;
		int sale = product.customers.getAndIncrement();
		if (exchange.getRequestURI().getQuery().endsWith("half") && sale >= product.stock / 2 - 5) {
			if (sale >= product.stock / 2) {
				// When the last answers of sales have arrived
				this.locked |= product.stock == STOCK && sale > product.stock + 200;
				send(exchange, 503, "{}");
				return;
			}
			this.nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
		}
		if (sale >= times * product.stock || exchange.getRequestURI().getQuery().endsWith("never")) {
			send(exchange, 409, "{}");
			return;
		}
		product.sold.incrementAndGet();
		send(exchange, 200, "{\"remaining\":%d}".formatted(product.stock - sale / times - 1));
	}

	private static void send(HttpExchange exchange, int status, String body) throws IOException {
		byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
		exchange.sendResponseHeaders(status, bytes.length);
		exchange.getResponseBody().write(bytes);
		exchange.close();
	}

	private record Product(int stock, AtomicInteger customers, AtomicInteger sold) {

		Product(int stock) {
			this(stock, new AtomicInteger(), new AtomicInteger());
		}

	}

}
