// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaFieldAccess;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaStaticInitializer;
import com.tngtech.archunit.core.domain.Source;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.assertj.core.api.AbstractCompletableFutureAssert;
import org.assertj.core.api.AbstractDurationAssert;
import org.assertj.core.api.Assert;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How the tests of one module may use time. What waits on the real clock is tagged
 * {@code clock}, because only such tests may run a second time. No test has an upper
 * bound on the time that something takes, because any machine may stand still. What a
 * method does with a {@code ManualTime} is exact, and may be as short as it likes.
 */
@TestInstance(Lifecycle.PER_CLASS)
public abstract class AbstractClockRuleTests {

	private static final String CLOCK = "clock";

	private static final Set<String> MANUAL_TIMES = Set.of("ManualTime", "ManualInstances");

	private static final Set<String> UPPER_BOUNDS = Set.of("isLessThan", "isLessThanOrEqualTo", "isBetween",
			"isStrictlyBetween", "isCloseTo", "isBefore", "isBeforeOrEqualTo");

	/** What ends a wait for something that must happen: a test that hangs needs it. */
	private static final Set<String> LIMITS = Set.of("atMost", "waitAtMost", "timeout", "setDefaultTimeout",
			"succeedsWithin", "failsWithin", "completesExceptionallyWithin");

	/**
	 * The time in a line of a source, in milliseconds: a lease or a wait time that a
	 * pause of the machine outlasts.
	 */
	private static final Pattern MILLIS = Pattern.compile("\\bofMillis\\(([^)]*)\\)");

	/** The unit of a wait time; a conversion of units is none. */
	private static final Pattern SHORT_UNIT = Pattern.compile("(MILLI|MICRO|NANO)SECONDS\\s*[,)]");

	private static final Pattern LESS_THAN_TEN_SECONDS = Pattern
		.compile("\\(([1-9]), (TimeUnit\\.)?SECONDS\\)|\\bofSeconds\\(([1-9])\\)");

	/** How often a test looks at a condition. */
	private static final Pattern POLL_INTERVAL = Pattern.compile("poll_?interval", Pattern.CASE_INSENSITIVE);

	/** The support of tests measures how long the machine stands still. */
	static final ImportOption NO_TEST_SUPPORT = (location) -> !location.contains("/testsupport/");

	private final JavaClasses tests;

	private final Map<String, Optional<List<String>>> sources = new ConcurrentHashMap<>();

	private final Map<JavaCodeUnit, Boolean> clockReaders = new HashMap<>();

	protected AbstractClockRuleTests() {
		this(new ClassFileImporter().withImportOption(NO_TEST_SUPPORT).importPath(Path.of("target", "test-classes")));
	}

	AbstractClockRuleTests(JavaClasses tests) {
		this.tests = tests;
	}

	/**
	 * Return the directories with the sources of the tests.
	 */
	protected Path[] testSources() {
		return new Path[] { Path.of("src", "test", "java") };
	}

	@Test
	void realTimeIsMarked() {
		assertThat(accesses().filter((access) -> !isMarked(access.getOwner()))
			.filter((access) -> isRealTime(access) || isShortTime(access) || isMarked(access))
			.map(JavaAccess::getDescription)).as("Tag what uses the real clock with \"%s\", or use ManualTime", CLOCK)
			.isEmpty();
	}

	@Test
	void noTestHasAnUpperBoundOnTime() {
		assertThat(accesses().filter((access) -> isUpperBound(access) || isShortLimit(access))
			.map(JavaAccess::getDescription))
			.as("A machine that stands still breaks an upper bound; assert a lower bound, an order or a number")
			.isEmpty();
		assertThat(this.tests.stream()
			.flatMap((type) -> Stream.concat(Stream.of(type), type.getCodeUnits().stream()))
			.map((element) -> (HasAnnotations<?>) element)
			.filter((element) -> element.isAnnotatedWith(Timeout.class) || element.isMetaAnnotatedWith(Timeout.class)))
			.isEmpty();
	}

	/**
	 * The build of a module may leave them out if there are none, inherited ones
	 * included.
	 */
	@Test
	void whatIsMarkedRuns() {
		if ("none".equals(System.getProperty("clock.tests.phase"))) {
			assertThat(this.tests.stream()
				.flatMap((type) -> type.getAllMethods().stream())
				.filter(AbstractClockRuleTests::isMarked)
				.map(JavaMember::getFullName)).as("Remove clock.tests.phase from the pom.xml of this module").isEmpty();
		}
	}

	/** The second run of a test finds the class as its first run has left it. */
	@Test
	void whatIsClosedAfterAllTestsIsOpenedBeforeAllTests() {
		assertThat(accesses().filter((access) -> access.getOrigin() instanceof JavaStaticInitializer)
			.filter((access) -> access.getTarget()
				.resolveMember()
				.filter((member) -> member.isAnnotatedWith(AutoClose.class))
				.isPresent())
			.map(JavaAccess::getDescription)).as("Set the field in a method with @BeforeAll").isEmpty();
	}

	private Stream<JavaAccess<?>> accesses() {
		return this.tests.stream().flatMap((type) -> type.getAccessesFromSelf().stream());
	}

	private boolean isRealTime(JavaAccess<?> access) {
		String name = access.getName();
		JavaClass type = access.getTargetOwner();
		return (type.isEquivalentTo(Thread.class) || type.isEquivalentTo(TimeUnit.class)) && name.equals("sleep")
				|| type.isEquivalentTo(LockSupport.class) && Set.of("parkNanos", "parkUntil").contains(name)
				|| (type.isEquivalentTo(Object.class) && name.equals("wait")
						|| type.isAssignableTo(Thread.class) && name.equals("join")) && hasParameter(access, long.class)
				|| (type.isAssignableTo(ScheduledExecutorService.class) || type.isEquivalentTo(Timer.class))
						&& name.startsWith("schedule")
				|| type.isEquivalentTo(ConditionFactory.class) && (Set.of("during", "atLeast").contains(name)
						|| name.equals("pollDelay") && line(access).filter((text) -> text.contains("ZERO")).isEmpty())
				|| type.isEquivalentTo(CompletableFuture.class) && name.equals("delayedExecutor") || isClock(access);
	}

	/** The constant stands in the source only. */
	private boolean isShortTime(JavaAccess<?> access) {
		JavaClass type = access.getTargetOwner();
		boolean duration = type.isEquivalentTo(Duration.class) && access.getName().equals("ofMillis");
		boolean unit = type.isEquivalentTo(TimeUnit.class)
				&& Set.of("MILLISECONDS", "MICROSECONDS", "NANOSECONDS").contains(access.getName());
		if (!(duration || unit) || usesManualTime(access.getOrigin())) {
			return false;
		}
		return line(access).map((text) -> unit ? SHORT_UNIT.matcher(text).find() : isShort(text)).orElse(true);
	}

	private static boolean isShort(String text) {
		List<String> times = MILLIS.matcher(text).results().map((call) -> call.group(1)).toList();
		return !POLL_INTERVAL.matcher(text).find()
				&& !(times.size() > 0 && times.stream().allMatch((time) -> time.matches("0|[1-9][\\d_]{3,}")));
	}

	private boolean isUpperBound(JavaAccess<?> access) {
		JavaClass type = access.getTargetOwner();
		boolean time = type.isAssignableTo(AbstractDurationAssert.class) && !usesManualTime(access.getOrigin())
				|| type.isAssignableTo(Assert.class) && readsClock(access.getOrigin());
		return time && UPPER_BOUNDS.contains(access.getName())
				|| type.isEquivalentTo(Assertions.class) && access.getName().startsWith("assertTimeout");
	}

	/** A limit of many seconds decides nothing, and a delay is none. */
	private boolean isShortLimit(JavaAccess<?> access) {
		JavaClass type = access.getTargetOwner();
		boolean limit = LIMITS.contains(access.getName())
				&& (type.isEquivalentTo(ConditionFactory.class) || type.isEquivalentTo(Awaitility.class)
						|| type.isAssignableTo(AbstractCompletableFutureAssert.class))
				|| type.getPackageName().startsWith("java.") && hasParameter(access, TimeUnit.class)
						&& !isRealTime(access) && !usesManualTime(access.getOrigin());
		return limit && line(access).filter((text) -> LESS_THAN_TEN_SECONDS.matcher(text).find()).isPresent();
	}

	private static boolean hasParameter(JavaAccess<?> access, Class<?> type) {
		return access instanceof JavaCodeUnitAccess<?> call
				&& call.getTarget().getRawParameterTypes().stream().anyMatch((each) -> each.isEquivalentTo(type));
	}

	/** What day it is says nothing about elapsed time. */
	private static boolean isClock(JavaAccess<?> access) {
		return access.getTargetOwner().isEquivalentTo(System.class)
				&& Set.of("nanoTime", "currentTimeMillis").contains(access.getName());
	}

	/** Whether the method compares what the clock says, by itself or by another one. */
	private boolean readsClock(JavaCodeUnit method) {
		Boolean known = this.clockReaders.putIfAbsent(method, false);
		if (known != null) {
			return known;
		}
		boolean reads = method.getAccessesFromSelf()
			.stream()
			.anyMatch((access) -> isClock(access) || callsReader(access));
		this.clockReaders.put(method, reads);
		return reads;
	}

	private boolean callsReader(JavaAccess<?> access) {
		return access.getTarget()
			.resolveMember()
			.filter((member) -> this.tests.contain(member.getOwner().getName()))
			.filter((member) -> member instanceof JavaCodeUnit method && isTime(method.getRawReturnType())
					&& readsClock(method))
			.isPresent();
	}

	private static boolean isTime(JavaClass type) {
		return Stream.of(long.class, double.class, Duration.class).anyMatch(type::isEquivalentTo);
	}

	/**
	 * Whether the method itself, or what surrounds its lambda, moves or reads a manual
	 * time. That its class does so elsewhere proves nothing.
	 */
	private static boolean usesManualTime(JavaCodeUnit method) {
		return method.getAccessesFromSelf()
			.stream()
			.anyMatch((access) -> MANUAL_TIMES.contains(access.getTargetOwner().getSimpleName())
					|| access instanceof JavaFieldAccess field
							&& MANUAL_TIMES.contains(field.getTarget().getRawType().getSimpleName()));
	}

	/** What cannot be read is not known to be right. */
	private Optional<String> line(JavaAccess<?> access) {
		JavaClass type = outermost(access.getOriginOwner());
		int line = access.getLineNumber();
		return this.sources.computeIfAbsent(type.getName(), (name) -> source(type))
			.filter((source) -> line <= source.size())
			.map((source) -> source.get(line - 1));
	}

	private Optional<List<String>> source(JavaClass type) {
		String file = type.getSource().flatMap(Source::getFileName).orElse(type.getSimpleName() + ".java");
		return Stream.of(testSources())
			.map((directory) -> directory.resolve(type.getPackageName().replace('.', '/')).resolve(file))
			.filter(Files::exists)
			.findFirst()
			.map(AbstractClockRuleTests::lines);
	}

	private static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Code without the tag must not reach real time through a method that has it. */
	private boolean isMarked(JavaAccess<?> access) {
		Optional<? extends JavaMember> target = access.getTarget().resolveMember();
		return target.filter((member) -> this.tests.contain(member.getOwner().getName()))
			.filter(AbstractClockRuleTests::isMarked)
			.isPresent();
	}

	private static boolean isMarked(JavaMember member) {
		return hasTag(member) || isMarked(member.getOwner());
	}

	private static boolean isMarked(JavaClass type) {
		return hasTag(type) || type.getEnclosingCodeUnit().filter(AbstractClockRuleTests::isMarked).isPresent()
				|| type.getEnclosingClass().filter(AbstractClockRuleTests::isMarked).isPresent()
				|| type.getRawSuperclass().filter(AbstractClockRuleTests::isMarked).isPresent();
	}

	private static boolean hasTag(HasAnnotations<?> element) {
		return element.tryGetAnnotationOfType(Tag.class).filter((tag) -> tag.value().equals(CLOCK)).isPresent();
	}

	private static JavaClass outermost(JavaClass type) {
		return type.getEnclosingClass().map(AbstractClockRuleTests::outermost).orElse(type);
	}

}
