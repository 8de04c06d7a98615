// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;

/**
 * Finds the properties of a class in the same way as the evaluation of an expression.
 */
final class ClassProperties extends ReflectivePropertyAccessor {

	private static final ClassProperties instance = new ClassProperties();

	private ClassProperties() {
	}

	/**
	 * Return the type of a property, or {@code null} if the class does not have it.
	 */
	static @Nullable ResolvableType typeOf(String name, Class<?> type) {
		if (type.isArray() && name.equals("length")) {
			return ResolvableType.forClass(Integer.class);
		}
		Method getter = instance.findGetterForProperty(name, type, false);
		if (getter != null) {
			return ResolvableType.forMethodReturnType(getter);
		}
		Field field = instance.findField(name, type, false);
		return (field != null) ? ResolvableType.forField(field) : null;
	}

	/**
	 * Return the names of the properties of a class, for messages.
	 */
	static List<String> names(Class<?> type) {
		if (type.isArray()) {
			return List.of("length");
		}
		if (type.isRecord()) {
			return Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName).toList();
		}
		Stream<String> getters = Arrays.stream(BeanUtils.getPropertyDescriptors(type))
			.filter((property) -> property.getReadMethod() != null)
			.map(PropertyDescriptor::getName)
			.filter((name) -> !name.equals("class"));
		Stream<String> fields = Arrays.stream(type.getFields())
			.filter((field) -> !Modifier.isStatic(field.getModifiers()))
			.map(Field::getName);
		return Stream.concat(getters, fields).distinct().toList();
	}

}
