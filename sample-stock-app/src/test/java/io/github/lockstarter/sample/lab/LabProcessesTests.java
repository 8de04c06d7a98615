// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import org.apache.commons.logging.LogFactory;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.mock.env.MockEnvironment;

import io.github.lockstarter.sample.StockApplication;
import io.github.lockstarter.servers.ServerPort;
import io.github.lockstarter.servers.ServerProcess;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The lab of a real shop, with real instances: what they sell, and that nothing of them
 * is left behind, however the shop ends.
 */
@Tag("clock")
@FullProfileOnly
@EnabledOnOs(OS.LINUX)
class LabProcessesTests {

	private static final Path JAR = Path.of("target", "sample-stock-app-1.0.0-SNAPSHOT.jar").toAbsolutePath();

	private static final JsonMapper json = JsonMapper.shared();

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final int port = ServerPort.find();

	@TempDir
	private Path directory;

	/** For the files of the shop and of all that it starts. */
	private Path temporary;

	private ServerProcess shop;

	private String token;

	@BeforeEach
	void createDirectory() throws IOException {
		this.temporary = Files.createDirectory(this.directory.resolve("tmp"));
	}

	@AfterEach
	void close() {
		if (this.shop != null) {
			this.shop.close();
		}
	}

	@Test
	void theClassPathSellsAndAKilledInstanceComesBack() throws Exception {
		open(ServerProcess.java(List.of("-Xmx512m"), StockApplication.class.getName()));
		assertThatOnlyOursIsRight(run("none,distributed-lock", 500, "none", (event) -> false));
		List<ProcessHandle> before = instances();
		assertThat(before).hasSize(2);
		assertThatTheyObeyNoOtherName(before);
		assertThat(post("/instances/1/kill", "").statusCode()).isEqualTo(202);
		assertThat(post("/instances/1/kill", "").statusCode()).isEqualTo(409);
		assertThat(post("/instances/1/pause", "").statusCode()).isEqualTo(409);
		await(() -> assertThat(instances()).hasSize(1));
		assertThatOursIsRight(run("distributed-lock", 100, "crash", (event) -> false), "crash");
		assertThatOursIsRight(run("distributed-lock-fenced", 100, "pause", (event) -> false), "pause");
		assertThat(instances()).hasSize(2).isNotEqualTo(before);
		assertThat(run("redis-setnx", 300, "crash", (event) -> false).get(0).get("sentence").asString())
			.endsWith("and then nobody bought anything for 15 seconds");
		assertThatNothingIsLeftAfter(() -> ServerProcess.signal("TERM", this.shop.pid()));
	}

	@Test
	void thePackagedJarSellsAndCtrlCEndsItAll() throws Exception {
		Assumptions.assumeTrue(Files.exists(JAR), "The shop is not packaged");
		long start = System.nanoTime();
		open(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-jar",
				JAR.toString()));
		long open = System.nanoTime();
		assertThatOnlyOursIsRight(run("none,distributed-lock", 500, "none", (event) -> false));
		LogFactory.getLog(getClass())
			.info("The shop was open after %d ms, and the default run ended after further %d ms".formatted(
					TimeUnit.NANOSECONDS.toMillis(open - start),
					TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - open)));
		// In the middle of the next run, and for all processes of the terminal
		run("distributed-lock", 2000, "slow", (event) -> !event.path("sold").isEmpty());
		assertThatNothingIsLeftAfter(() -> ServerProcess.signal("INT", -this.shop.pid()));
	}

	@Test
	void instancesShareTheServersOfOtherStoresAndNothingOutlivesAShopThatIsKilled() throws Exception {
		open(ServerProcess.java(List.of("-Xmx512m"), StockApplication.class.getName()),
				"--spring.profiles.active=stores");
		List<JsonNode> results = run("distributed-lock-zookeeper,distributed-lock-redlock", 100, "none",
				(event) -> false);
		assertThat(results).hasSize(2);
		for (JsonNode result : results) {
			assertThatOursIsRight(List.of(result), "none");
			assertThat(result.get("sold").asInt()).as("%s", result).isEqualTo(100);
		}
		run("distributed-lock", 2000, "slow", (event) -> !event.path("sold").isEmpty());
		assertThatNothingIsLeftAfter(() -> ServerProcess.signal("KILL", this.shop.pid()));
	}

	/** As a page in a browser would send it, whose name leads here. */
	private static void assertThatTheyObeyNoOtherName(List<ProcessHandle> instances) throws Exception {
		for (ProcessHandle instance : instances) {
			int port = Integer.parseInt(commandLine(instance).replaceFirst("(?s).*--server.port=(\\d+).*", "$1"));
			try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
				socket.getOutputStream()
					.write("POST /api/stock/1/deductions HTTP/1.1\r\nHost: evil.example\r\nX-Lab-Fault: crash\r\n\r\n"
						.getBytes(StandardCharsets.US_ASCII));
				assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
					.readLine()).startsWith("HTTP/1.1 403");
			}
			assertThat(instance.isAlive()).isTrue();
		}
	}

	@Test
	void anInstanceThatCannotStartIsNamedWithoutItsLog() {
		Instances instances = new Instances(
				new MockEnvironment().withProperty("spring.datasource.url", "jdbc:nothing:here"));
		try {
			assertThatIllegalStateException().isThrownBy(() -> instances.start(1))
				.withMessage("shop-1 ended before it served");
		}
		finally {
			instances.end(true);
		}
	}

	/** In a session of its own, as in a terminal. */
	private void open(List<String> java, String... arguments) throws Exception {
		List<String> command = new ArrayList<>(List.of("setsid"));
		command.addAll(java);
		command.addAll(List.of("--server.port=" + this.port, "--shop.directory=" + this.directory.resolve("shop")));
		command.addAll(List.of(arguments));
		Path own = ServerProcess.newDirectory("lab");
		this.shop = ServerProcess.start(command, Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + this.temporary),
				own);
		this.shop.await(() -> {
			try {
				return Files.readString(own.resolve("log")).contains("The shop is open");
			}
			catch (IOException ex) {
				return false;
			}
		});
		this.token = json
			.readTree(this.http.send(request("").build(), BodyHandlers.ofString(StandardCharsets.UTF_8)).body())
			.get("token")
			.asString();
	}

	/**
	 * Press the button, and follow the run until it has ended.
	 * @param leaves for each event, whether to look no longer
	 * @return the results
	 */
	private List<JsonNode> run(String strategies, int stock, String fault, Predicate<JsonNode> leaves)
			throws Exception {
		HttpResponse<String> pressed = post("/runs",
				"{\"strategies\":[\"%s\"],\"instances\":2,\"users\":%d,\"stock\":%d,\"fault\":\"%s\"}"
					.formatted(strategies.replace(",", "\",\""), (stock == 500) ? 50 : 20, stock, fault));
		assertThat(pressed.statusCode()).as(pressed.body()).isEqualTo(201);
		String id = json.readTree(pressed.body()).get("id").asString();
		List<JsonNode> results = new ArrayList<>();
		InputStream events = this.http.send(request("/runs/" + id + "/events").build(), BodyHandlers.ofInputStream())
			.body();
		try (BufferedReader reader = new BufferedReader(new InputStreamReader(events, StandardCharsets.UTF_8))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				if (line.startsWith("data: ")) {
					JsonNode event = json.readTree(line.substring(6));
					if (leaves.test(event)) {
						break;
					}
					if (event.has("verdict")) {
						results.add(event);
					}
				}
			}
		}
		return results;
	}

	private static void assertThatOnlyOursIsRight(List<JsonNode> results) {
		assertThat(results).extracting((result) -> result.get("strategy").asString())
			.containsExactly("none", "distributed-lock");
		assertThat(results.get(0).get("verdict").asString()).isEqualTo("wrong");
		assertThat(results.get(0).get("oversold").asInt()).isPositive();
		assertThat(results.get(0).get("soldTwice").asInt()).isPositive();
		assertThatOursIsRight(results.subList(1, 2), "none");
		assertThat(results.get(1).get("sold").asInt()).isEqualTo(500);
	}

	private static void assertThatOursIsRight(List<JsonNode> results, String fault) {
		assertThat(results).hasSize(1);
		JsonNode result = results.get(0);
		assertThat(result.get("fault").asString()).isEqualTo(fault);
		SafetyViolation.check(result.get("oversold").asInt() == 0 && result.get("lost").asInt() == 0,
				"Our lock oversold: %s", result);
		assertThat(result.get("verdict").asString()).as("%s", result).isEqualTo("right");
	}

	/** The instances that the shop has started. */
	private List<ProcessHandle> instances() {
		return ProcessHandle.of(this.shop.pid())
			.orElseThrow()
			.children()
			.filter((child) -> commandLine(child).contains(Instances.PROFILE))
			.toList();
	}

	/** Its handle has none if it is long. */
	private static String commandLine(ProcessHandle process) {
		try {
			return Files.readString(Path.of("/proc", String.valueOf(process.pid()), "cmdline"));
		}
		catch (IOException ex) {
			return "";
		}
	}

	private void assertThatNothingIsLeftAfter(Runnable end) {
		List<ProcessHandle> processes = descendants();
		assertThat(processes).hasSizeGreaterThan(3);
		end.run();
		awaitEnd(processes);
		await(() -> assertThat(files()).isEmpty());
	}

	private List<ProcessHandle> descendants() {
		return ProcessHandle.of(this.shop.pid()).orElseThrow().descendants().toList();
	}

	private void awaitEnd(List<ProcessHandle> processes) {
		await(() -> assertThat(this.shop.isAlive()).isFalse());
		await(() -> assertThat(processes.stream().filter(ProcessHandle::isAlive).map(LabProcessesTests::commandLine))
			.isEmpty());
	}

	private Stream<String> files() {
		// Mockito is on the class path of the tests only
		return Stream.of(this.temporary.toFile().list()).filter((file) -> !file.startsWith("mockito"));
	}

	private static void await(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(assertion);
	}

	private HttpResponse<String> post(String path, String body) throws Exception {
		return this.http.send(
				request(path).header("Content-Type", "application/json").POST(BodyPublishers.ofString(body)).build(),
				BodyHandlers.ofString());
	}

	private HttpRequest.Builder request(String path) {
		HttpRequest.Builder request = HttpRequest
			.newBuilder(URI.create("http://127.0.0.1:" + this.port + "/api/lab" + path));
		return (this.token != null) ? request.header(LabAccess.TOKEN_HEADER, this.token) : request;
	}

}
