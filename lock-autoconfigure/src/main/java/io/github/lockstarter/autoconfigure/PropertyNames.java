// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * The names of the properties of {@link DistributedLockProperties}, without their prefix.
 */
final class PropertyNames {

	private static final List<String> ALL = below("", DistributedLockProperties.class).toList();

	private static final List<String> OF_A_LOCK = below("", NamedLock.class).toList();

	private PropertyNames() {
	}

	/**
	 * Return the name closest to a misspelt one.
	 */
	static String nearest(ConfigurationPropertyName name) {
		if (!isOfALock(name)) {
			return nearest(name.toString(), ALL);
		}
		int last = name.getNumberOfElements() - 1;
		String lock = IntStream.range(1, last)
			.mapToObj((i) -> name.getElement(i, Form.ORIGINAL))
			.collect(Collectors.joining("."));
		return Property.ofLock(lock, nearest(name.getElement(last, Form.DASHED), OF_A_LOCK));
	}

	/**
	 * Return whether a misspelt name stands for the store of a lock name.
	 */
	static boolean isStoreOfALock(ConfigurationPropertyName name) {
		return isOfALock(name) && NearestName.isNear(name.getLastElement(Form.UNIFORM), "store");
	}

	private static boolean isOfALock(ConfigurationPropertyName name) {
		return name.getNumberOfElements() > 2 && NearestName.isNear(name.getElement(0, Form.UNIFORM), Property.LOCKS);
	}

	private static String nearest(String name, List<String> all) {
		return all.stream().min(Comparator.comparingInt((known) -> distance(name, known))).orElseThrow();
	}

	private static Stream<String> below(String prefix, Class<?> type) {
		return Arrays.stream(type.getRecordComponents()).flatMap((component) -> names(prefix, component));
	}

	private static Stream<String> names(String prefix, RecordComponent component) {
		String name = prefix + DataObjectPropertyName.toDashedForm(component.getName());
		return component.getType().isRecord() ? below(name + ".", component.getType()) : Stream.of(name);
	}

	/** Leaving out the group counts as one mistake. */
	private static int distance(String name, String known) {
		String lastElement = known.substring(known.lastIndexOf('.') + 1);
		return Math.min(NearestName.edits(uniform(name), uniform(known)),
				1 + NearestName.edits(uniform(name), uniform(lastElement)));
	}

	private static String uniform(String name) {
		return name.replace("-", "");
	}

}
