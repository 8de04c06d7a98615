// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.File;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.annotation.Profile;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.StockApplication;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.ServerPort;
import io.github.lockstarter.servers.ServerProcess;

/**
 * The instances of the lab: real shops in processes of their own, which end with this
 * one, however it ends. They share its database, and a Redis that only they have, so that
 * its restart hurts nobody else.
 */
@Component
@Profile("!" + Instances.PROFILE)
class Instances {

	static final String PROFILE = "lab-instance";

	static final int LIMIT = 4;

	static final Duration LEASE_TIME = Duration.ofSeconds(3);

	static final Duration PAUSE = LEASE_TIME.plusSeconds(2);

	private static final Duration ANSWER = Duration.ofSeconds(2);

	/** Where the stock is, and where the servers of other stores are. */
	private static final List<String> SHARED = List.of("spring.datasource.url", "spring.datasource.username",
			"spring.datasource.password", "shop.directory", "distributed-lock.zookeeper.connect-string",
			"distributed-lock.redlock.nodes");

	private static final Log logger = LogFactory.getLog(Instances.class);

	private final Environment environment;

	private final HttpClient http = newClient();

	private final List<Instance> all = new ArrayList<>();

	private @Nullable RedisServer redis;

	private boolean closed;

	Instances(Environment environment) {
		this.environment = environment;
	}

	/**
	 * Return a client that does not ask for HTTP/2.
	 */
	static HttpClient newClient() {
		return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
	}

	/**
	 * Start those that are missing, and wait until all of them serve.
	 * @return their addresses
	 */
	List<URI> start(int count) {
		launch(count);
		return first(count).stream().map(Instance::awaitReady).toList();
	}

	/**
	 * Start some for the first run, and do not wait for them. Does nothing if there were
	 * any before.
	 */
	void prepare(int count) {
		if (first(1).isEmpty()) {
			launch(count);
			Thread waiting = new Thread(() -> first(count).forEach(this::awaitReady), "lab-instances");
			waiting.setDaemon(true);
			waiting.start();
		}
	}

	private void awaitReady(Instance instance) {
		try {
			instance.awaitReady();
		}
		catch (IllegalStateException ex) {
			logger.debug("The next run tries again, and tells what is wrong", ex);
		}
	}

	private synchronized void launch(int count) {
		if (this.closed) {
			throw new IllegalStateException("The shop is closing");
		}
		RedisServer server = this.redis;
		if (server == null) {
			server = RedisServer.start();
			this.redis = server;
		}
		else if (!server.isAlive()) {
			server.restart();
		}
		for (int i = 0; i < count; i++) {
			if (i == this.all.size()) {
				this.all.add(new Instance(i + 1, server));
			}
			else if (!this.all.get(i).process.isAlive()) {
				this.all.get(i).process.close();
				this.all.set(i, new Instance(i + 1, server));
			}
		}
	}

	synchronized List<Instance> first(int count) {
		return List.copyOf(this.all.subList(0, Math.min(count, this.all.size())));
	}

	/** Without its data. */
	void restartRedis() {
		redis().restart();
	}

	void flushRedis() {
		redis().command("FLUSHALL");
	}

	synchronized RedisServer redis() {
		RedisServer server = this.redis;
		if (server == null) {
			throw new IllegalStateException("Redis was not started");
		}
		return server;
	}

	/**
	 * End all of them, for now or for ever.
	 */
	synchronized void end(boolean forEver) {
		this.closed |= forEver;
		this.all.forEach((instance) -> instance.process.close());
		this.all.clear();
		if (this.redis != null) {
			this.redis.close();
			this.redis = null;
		}
	}

	private List<String> command(int number, int port, RedisServer redis, Path directory) {
		List<String> profiles = new ArrayList<>(List.of(this.environment.getActiveProfiles()));
		profiles.addAll(List.of("libraries", PROFILE));
		// Whose temporary files are deleted with the directory
		List<String> options = List.of("-Xmx256m", "-XX:-UsePerfData", "-Djava.io.tmpdir=" + directory,
				"-Dh2.bindAddress=127.0.0.1");
		return ServerProcess.java(options, StockApplication.class.getName(), "--server.port=" + port,
				"--server.address=127.0.0.1", "--spring.profiles.active=" + String.join(",", profiles),
				"--spring.data.redis.url=redis://" + redis.address(), "--spring.sql.init.mode=never",
				"--distributed-lock.store=redis", "--distributed-lock.lease-time=" + LEASE_TIME.toSeconds() + "s",
				"--distributed-lock.instance-name=shop-" + number + "@lab",
				"--management.endpoints.web.exposure.include=locks", "--shop.report.cron=-",
				// Longer than a sale, and shorter than a slow one
				"--shop.naive-lease-time=200ms", "--shop.long-lease-time=" + LEASE_TIME.toSeconds() + "s",
				// A sale that is sent while the shop closes its idle connection fails
				"--server.tomcat.keep-alive-timeout=-1");
	}

	/**
	 * In the environment of the process, because a command line is no place for a
	 * password.
	 */
	private Map<String, String> variables() {
		Map<String, String> variables = new HashMap<>();
		for (String property : SHARED) {
			String value = this.environment.getProperty(property);
			if (value != null) {
				variables.put(property.toUpperCase(Locale.ROOT).replace("-", "").replace('.', '_'),
						property.endsWith(".directory") ? new File(value).getAbsolutePath() : value);
			}
		}
		return variables;
	}

	/**
	 * One of the shops.
	 */
	class Instance {

		private final int number;

		private final URI address;

		private final File directory;

		private final ServerProcess process;

		private final AtomicBoolean asked = new AtomicBoolean();

		private volatile boolean ready;

		private volatile boolean paused;

		private volatile boolean holds;

		private volatile int waits;

		Instance(int number, RedisServer redis) {
			this.number = number;
			int port = ServerPort.find();
			this.address = URI.create("http://127.0.0.1:" + port);
			Path path = ServerProcess.newDirectory("shop");
			this.directory = path.toFile();
			this.process = ServerProcess.start(command(number, port, redis, path), variables(), path);
		}

		private URI awaitReady() {
			if (!this.ready) {
				try {
					this.process.await(this::answers);
				}
				catch (IllegalStateException ex) {
					throw new IllegalStateException("shop-" + this.number
							+ (isAlive() ? " did not serve within " + ServerProcess.PATIENCE.toSeconds() + " s"
									: " ended before it served"),
							ex);
				}
				this.ready = true;
			}
			return this.address;
		}

		private boolean answers() {
			// Not more often, because the others need the processor to start
			return CompletableFuture
				.supplyAsync(() -> ask("/api/strategies"),
						CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS))
				.thenCompose(Function.identity())
				.handle((answer, failure) -> failure == null && answer.statusCode() == 200)
				.join();
		}

		private CompletableFuture<HttpResponse<String>> ask(String path) {
			return Instances.this.http.sendAsync(
					HttpRequest.newBuilder(this.address.resolve(path)).timeout(ANSWER).build(),
					BodyHandlers.ofString());
		}

		/**
		 * Find out whether it holds the lock, and stop it if it waits for that.
		 * @return whether it was stopped
		 */
		boolean look() {
			if (state().equals("running") && this.asked.compareAndSet(false, true)) {
				ask("/actuator/locks").whenComplete((answer, failure) -> {
					this.asked.set(false);
					if (failure == null && answer.statusCode() == 200) {
						show(JsonMapper.shared().readTree(answer.body()).get("registries"));
					}
				});
			}
			File mark = new File(this.directory, WriteFault.MARK);
			return mark.exists() && pause() && mark.delete();
		}

		private void show(JsonNode registries) {
			int held = 0;
			int waiting = 0;
			for (JsonNode registry : registries) {
				held += registry.get("held").size();
				waiting += registry.get("waiting").size() + registry.get("waitingLeftOut").asInt();
			}
			this.holds = held > 0;
			this.waits = waiting;
		}

		/** Nothing is sold any more. */
		void forget() {
			this.holds = false;
			this.waits = 0;
		}

		/**
		 * Stop the process for longer than a lease.
		 * @return whether it was running
		 */
		synchronized boolean pause() {
			if (!state().equals("running")) {
				return false;
			}
			this.paused = true;
			this.process.pause();
			CompletableFuture.delayedExecutor(PAUSE.toMillis(), TimeUnit.MILLISECONDS).execute(this::resume);
			return true;
		}

		private synchronized void resume() {
			if (this.process.isAlive()) {
				this.process.resume();
			}
			// Nobody has asked it since
			this.holds = false;
			this.paused = false;
		}

		/**
		 * Kill the process.
		 * @return whether it was alive
		 */
		synchronized boolean kill() {
			boolean alive = this.process.isAlive();
			this.process.kill();
			return alive;
		}

		boolean isAlive() {
			return this.process.isAlive();
		}

		private String state() {
			return !this.process.isAlive() ? "ended" : this.paused ? "paused" : this.ready ? "running" : "starting";
		}

		View view() {
			String state = state();
			boolean alive = !state.equals("ended");
			return new View(this.number, "shop-" + this.number, state, alive && this.holds, alive ? this.waits : 0);
		}

	}

	/**
	 * What there is to see of an instance.
	 */
	record View(int number, String name, String state, boolean holds, int waits) {
	}

}
