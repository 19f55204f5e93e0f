#include "config.h"

#include "planner/device_list.h"

#include <string.h>

enum uc_status uc_device_list_parse(const char *text,
                                    int devices[UC_DEVICE_LIST], int *count,
                                    struct uc_error *err)
{
    *count = 0;
    if (text == NULL)
        text = "0";
    if (strcmp(text, "all") == 0)
        return UC_OK;
    for (const char *at = text; *count < UC_DEVICE_LIST; at++) {
        int value = 0, digits = 0;

        for (; *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
            value = value * 10 + (*at - '0');
        if (digits == 0 || (*at != ',' && *at != '\0'))
            break;
        for (int i = 0; i < *count; i++)
            if (devices[i] == value)
                return uc_fail(err, UC_EINPUT, "device %d is named twice",
                               value);
        devices[(*count)++] = value;
        if (*at == '\0')
            return UC_OK;
    }
    return uc_fail(err, UC_EINPUT,
                   "devices \"%.60s\": a list such as 0,1 or all is needed",
                   text);
}
