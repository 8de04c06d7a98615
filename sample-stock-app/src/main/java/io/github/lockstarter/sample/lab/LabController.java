// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.lab;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import io.github.lockstarter.sample.lab.Instances.Instance;
import io.github.lockstarter.sample.lab.LabRun.Limits;
import io.github.lockstarter.sample.lab.LabRun.Request;
import io.github.lockstarter.sample.lab.LabRun.Strategy;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * What the page of the lab may ask for. One run at a time.
 */
@RestController
@RequestMapping("/api/lab")
@Profile("!" + Instances.PROFILE)
class LabController {

	/** These need nothing but the Redis and the profile that each instance has. */
	private static final Set<String> FAMILIES_OF_INSTANCES = Set.of("naive-redis", "library");

	private static final Duration IDLE_TIME = Duration.ofMinutes(10);

	private final Map<String, Strategy> strategies = new LinkedHashMap<>();

	/** Those that need another profile. */
	private final List<Strategy> missing = new ArrayList<>();

	private final Instances instances;

	private final LabAccess access;

	private final Environment environment;

	private final InstantSource clock;

	/** One that never reads keeps its thread. */
	private final Semaphore followers = new Semaphore(20);

	private @Nullable LabRun run;

	private Instant lastUse;

	LabController(Instances instances, LabAccess access, Environment environment, InstantSource clock,
			Map<String, DeductionStrategy> strategies, @Value("classpath:strategies.json") Resource descriptions)
			throws IOException {
		this.instances = instances;
		this.access = access;
		this.environment = environment;
		this.clock = clock;
		this.lastUse = clock.instant();
		try (InputStream content = descriptions.getInputStream()) {
			for (Strategy each : JsonMapper.shared().readValue(content, Strategy[].class)) {
				if (strategies.containsKey(each.name()) || FAMILIES_OF_INSTANCES.contains(each.family())) {
					this.strategies.put(each.name(), each);
				}
				else {
					this.missing.add(each);
				}
			}
		}
	}

	@GetMapping
	@LabAccess.WithoutToken
	synchronized Lab lab() {
		LabRun current = this.run;
		return new Lab(this.access.token(), List.copyOf(this.strategies.values()), this.missing,
				Stream.of(Fault.values()).map(Fault::described).toList(), Request.LIMITS, Request.DEFAULTS,
				(current != null && !current.hasEnded()) ? new Id(current.id()) : null);
	}

	@PostMapping(path = "/runs", consumes = MediaType.APPLICATION_JSON_VALUE)
	@ResponseStatus(HttpStatus.CREATED)
	synchronized Id start(@RequestBody(required = false) @Nullable String body) {
		Request request;
		try {
			request = Request.read((body != null) ? body : "", this.strategies);
		}
		catch (IllegalArgumentException ex) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST, ex.getMessage(), ex);
		}
		LabRun current = this.run;
		if (current != null && !current.hasEnded()) {
			ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT,
					"Another run is under way; stop it, or wait for its end");
			problem.setProperty("id", current.id());
			throw new ErrorResponseException(HttpStatus.CONFLICT, problem, null);
		}
		LabRun started = new LabRun(request, this.strategies, this.instances,
				URI.create("http://127.0.0.1:" + this.environment.getRequiredProperty("local.server.port")),
				System::nanoTime)
			.start();
		this.run = started;
		this.lastUse = this.clock.instant();
		return new Id(started.id());
	}

	/** A thread for each page that looks is simple, and there are few. */
	@GetMapping("/runs/{id}/events")
	void events(@PathVariable String id, HttpServletResponse response) throws InterruptedException {
		LabRun followed = find(id);
		if (!this.followers.tryAcquire()) {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, "Too many pages follow the run");
		}
		response.setContentType(MediaType.TEXT_EVENT_STREAM_VALUE);
		response.setHeader("Cache-Control", "no-store");
		try {
			followed.writeEvents(response.getOutputStream());
		}
		catch (IOException ex) {
			// The page has gone
		}
		finally {
			this.followers.release();
		}
	}

	@DeleteMapping("/runs/{id}")
	@ResponseStatus(HttpStatus.NO_CONTENT)
	void stop(@PathVariable String id) {
		find(id).stop();
	}

	/** For the first run, which is chosen meanwhile. */
	@PostMapping("/instances")
	synchronized List<Instances.View> prepare() {
		this.lastUse = this.clock.instant();
		this.instances.prepare(Request.DEFAULTS.instances());
		return this.instances.first(Instances.LIMIT).stream().map(Instance::view).toList();
	}

	@PostMapping("/instances/{number}/pause")
	@ResponseStatus(HttpStatus.ACCEPTED)
	void pause(@PathVariable int number) {
		change(number, Instance::pause, "paused");
	}

	@PostMapping("/instances/{number}/kill")
	@ResponseStatus(HttpStatus.ACCEPTED)
	void kill(@PathVariable int number) {
		change(number, Instance::kill, "killed");
	}

	private void change(int number, Predicate<Instance> change, String what) {
		List<Instance> all = this.instances.first(Instances.LIMIT);
		if (number < 1 || number > all.size()) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no instance " + number);
		}
		Instance instance = all.get(number - 1);
		if (!change.test(instance)) {
			throw new ResponseStatusException(HttpStatus.CONFLICT,
					"Instance " + number + " is " + instance.view().state());
		}
		note("shop-%d was %s".formatted(number, what));
	}

	private synchronized void note(String what) {
		if (this.run != null) {
			this.run.note(what);
		}
	}

	private synchronized LabRun find(String id) {
		LabRun current = this.run;
		if (current == null || !current.id().equals(id)) {
			throw new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no run " + id);
		}
		return current;
	}

	/**
	 * The instances stay for the next run, but not for ever.
	 */
	@Scheduled(fixedDelay = 1, timeUnit = TimeUnit.MINUTES)
	synchronized void endIdleInstances() {
		if (this.run != null && !this.run.hasEnded()) {
			this.lastUse = this.clock.instant();
		}
		else if (this.lastUse.plus(IDLE_TIME).isBefore(this.clock.instant())) {
			this.instances.end(false);
		}
	}

	/**
	 * Before the server waits for its last requests, one of which may be that for the
	 * events.
	 */
	@EventListener(ContextClosedEvent.class)
	synchronized void close() {
		if (this.run != null) {
			this.run.stop();
		}
		this.instances.end(true);
	}

	record Id(String id) {
	}

	record Lab(String token, List<Strategy> strategies, List<Strategy> missing, List<Fault.Description> faults,
			Limits limits, Request defaults, @Nullable Id run) {
	}

}
