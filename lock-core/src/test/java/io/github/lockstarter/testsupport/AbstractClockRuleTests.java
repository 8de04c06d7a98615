// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.properties.HasAnnotations;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.assertj.core.api.AbstractDurationAssert;
import org.assertj.core.api.AbstractLongAssert;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How the tests of one module may use time. What waits on the real clock is tagged
 * {@code clock}, because only such tests may run a second time. No test has an upper
 * bound on the time that something takes, because any machine may stand still.
 */
public abstract class AbstractClockRuleTests {

	private static final String CLOCK = "clock";

	private static final Set<String> UPPER_BOUNDS = Set.of("isLessThan", "isLessThanOrEqualTo", "isBetween",
			"isStrictlyBetween", "isCloseTo");

	/**
	 * A lease or a wait time that a pause of the machine outlasts, except on manual time.
	 */
	private static final Pattern SHORT_TIME = Pattern.compile("Duration\\s*\\.ofMillis\\((\\d{1,3})\\)");

	/** How often a test looks at a condition. */
	private static final Pattern POLL_INTERVAL = Pattern.compile("poll_?interval", Pattern.CASE_INSENSITIVE);

	/** The support of tests measures how long the machine stands still. */
	static final ImportOption NO_TEST_SUPPORT = (location) -> !location.contains("/testsupport/");

	private final JavaClasses tests;

	private final Map<String, List<String>> sources = new ConcurrentHashMap<>();

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
		assertThat(accesses().filter(this::isUpperBound).map(JavaAccess::getDescription))
			.as("A machine that stands still breaks an upper bound; assert a lower bound, an order or a number")
			.isEmpty();
		assertThat(this.tests.stream()
			.flatMap((type) -> Stream.concat(Stream.of(type), type.getCodeUnits().stream()))
			.filter((element) -> ((HasAnnotations<?>) element).isAnnotatedWith(Timeout.class))).isEmpty();
	}

	private Stream<JavaAccess<?>> accesses() {
		return this.tests.stream().flatMap((type) -> type.getAccessesFromSelf().stream());
	}

	private static boolean isRealTime(JavaAccess<?> access) {
		String name = access.getName();
		JavaClass type = access.getTargetOwner();
		return (type.isEquivalentTo(Thread.class) || type.isEquivalentTo(TimeUnit.class)) && name.equals("sleep")
				|| type.isEquivalentTo(System.class) && Set.of("nanoTime", "currentTimeMillis").contains(name)
				|| type.isEquivalentTo(LockSupport.class) && Set.of("parkNanos", "parkUntil").contains(name);
	}

	/** The constant stands in the source only. */
	private boolean isShortTime(JavaAccess<?> access) {
		JavaClass type = outermost(access.getOriginOwner());
		if (!access.getTargetOwner().isEquivalentTo(Duration.class) || !access.getName().equals("ofMillis")
				|| isOnManualTime(type)) {
			return false;
		}
		List<String> source = this.sources.computeIfAbsent(type.getName(), this::source);
		int line = access.getLineNumber();
		String text = (line <= source.size()) ? source.get(line - 1) : "";
		Matcher call = SHORT_TIME.matcher(text);
		return call.find() && !call.group(1).equals("0") && !POLL_INTERVAL.matcher(text).find();
	}

	private static boolean isOnManualTime(JavaClass type) {
		return type.getDirectDependenciesFromSelf()
			.stream()
			.map((dependency) -> dependency.getTargetClass().getSimpleName())
			.anyMatch(Set.of("ManualTime", "ManualInstances")::contains);
	}

	private List<String> source(String type) {
		return Stream.of(testSources())
			.map((directory) -> directory.resolve(type.replace('.', '/') + ".java"))
			.filter(Files::exists)
			.findFirst()
			.map(AbstractClockRuleTests::lines)
			.orElse(List.of());
	}

	private static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean isUpperBound(JavaAccess<?> access) {
		JavaClass type = access.getTargetOwner();
		boolean elapsed = type.isAssignableTo(AbstractDurationAssert.class)
				&& !isOnManualTime(outermost(access.getOriginOwner()))
				|| type.isAssignableTo(AbstractLongAssert.class)
						&& access.getOrigin().getAccessesFromSelf().stream().anyMatch(AbstractClockRuleTests::isClock);
		return elapsed && UPPER_BOUNDS.contains(access.getName())
				|| type.isEquivalentTo(Assertions.class) && access.getName().startsWith("assertTimeout");
	}

	private static boolean isClock(JavaAccess<?> access) {
		return access.getTargetOwner().isEquivalentTo(System.class)
				&& Set.of("nanoTime", "currentTimeMillis").contains(access.getName());
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
